// SPDX-License-Identifier: Apache-2.0
// Packed layouts: their text form, hostile texts, sizes that overflow, and packing in pieces.
#include "kernels/cpu/packed_weight.h"

#include <gtest/gtest.h>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

TEST(PackedLayout, text_says_it_all) {
  for (DType dtype : testing::kWeightDTypes)
    for (auto [rows, cols] : {std::pair<int64_t, int64_t>{1, 256}, {49152, 768}, {17, 1024}}) {
      const PackedLayout layout = packed_layout(dtype, rows, cols).value();
      const Result<PackedLayout> read = PackedLayout::from_text(layout.to_text());
      ASSERT_TRUE(read.is_ok()) << layout.to_text() << ": " << read.status().message();
      EXPECT_EQ(*read, layout) << layout.to_text();
      EXPECT_GT(layout.bytes(), 0);
    }
}

TEST(PackedLayout, a_text_that_no_layout_has_is_refused_with_what_was_found) {
  const std::string good = "tile16 code4 group=32 offset=1 zero=0 rows=576 cols=576";
  ASSERT_TRUE(PackedLayout::from_text(good).is_ok());
  for (const std::string bad : {
           "",
           "tile16",
           "tile32 code4 group=32 offset=1 zero=0 rows=576 cols=576",
           "tile16 code5 group=32 offset=1 zero=0 rows=576 cols=576",
           "tile16 code4 group=0 offset=1 zero=0 rows=576 cols=576",
           "tile16 code4 group=48 offset=1 zero=0 rows=576 cols=576",
           "tile16 code4 group=288 offset=1 zero=0 rows=576 cols=576",
           "tile16 code4 group=32 offset=2 zero=0 rows=576 cols=576",
           "tile16 code4 group=32 offset=1 zero=-1 rows=576 cols=576",
           "tile16 code4 group=32 offset=1 zero=256 rows=576 cols=576",
           "tile16 code4 group=32 offset=1 zero=0 rows=0 cols=576",
           "tile16 code4 group=32 offset=1 zero=0 rows=-16 cols=576",
           "tile16 code4 group=32 offset=1 zero=0 rows=576",
           "tile16 code4 group=32 offset=1 zero=0 rows=576 cols=",
           "tile16 code4 group=32 offset=1 zero=0 rows=576 cols=5 76",
           "tile16 code4 group=32 offset=1 zero=0 rows=576 cols=576 ",
           "tile16 code4 group=32 offset=1 zero=0 rows=576 cols=576 rows=1",
           "tile16 code4 cols=576 group=32 offset=1 zero=0 rows=576",
           "tile16 code4 group=32 offset=1 zero=0 rows=99999999999999999999 cols=576",
       }) {
    const Result<PackedLayout> read = PackedLayout::from_text(bad);
    ASSERT_FALSE(read.is_ok()) << bad;
    EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(read.status().message().find("'" + bad + "'"), std::string::npos) << read.status().message();
  }
}

TEST(PackedLayout, sizes_whose_bytes_overflow_are_refused) {
  for (const char* codes : {"code4", "code8", "f32"})
    for (const char* sizes : {"rows=2147483648 cols=2147483648", "rows=2147483647 cols=2147483647"}) {
      const std::string text = fmt::format("tile16 {} group=32 offset=0 zero=8 {}", codes, sizes);
      EXPECT_FALSE(PackedLayout::from_text(text).is_ok()) << text;
    }
  for (auto [rows, cols] :
       {std::pair{INT64_MAX, int64_t{256}}, {int64_t{256}, INT64_MAX - 255}, {int64_t{1} << 32, int64_t{1} << 32}})
    for (DType dtype : {DType::f32, DType::q4_0, DType::q4_k}) {
      const Result<PackedLayout> layout = packed_layout(dtype, rows, cols);
      ASSERT_FALSE(layout.is_ok()) << dtype_name(dtype) << " " << rows << " x " << cols;
      EXPECT_EQ(layout.status().code(), StatusCode::kUnsupported);
    }
}

TEST(PackedLayout, dtypes_without_a_packed_form_are_named) {
  for (DType dtype : {DType::i32, DType::f64, DType::string}) {
    const Result<PackedLayout> layout = packed_layout(dtype, 16, 64);
    ASSERT_FALSE(layout.is_ok());
    EXPECT_NE(layout.status().message().find(dtype_name(dtype)), std::string::npos) << layout.status().message();
  }
}

TEST(Packing, pieces_and_concatenated_parts_give_the_same_bytes_as_the_whole) {
  for (DType dtype : testing::kWeightDTypes) {
    const int64_t rows = 75, cols = 256;
    const testing::Weights whole = testing::make_weights(dtype, rows, cols, 5);
    const int64_t row_bytes = *dtype_bytes(dtype, cols);
    // 5 + 38 + 32 rows: tiles run across the seams.
    const ConstTensorView parts[] = {{whole.raw.data(), dtype, {5, cols}},
                                     {whole.raw.data() + 5 * row_bytes, dtype, {38, cols}},
                                     {whole.raw.data() + 43 * row_bytes, dtype, {32, cols}}};
    const PackedLayout& layout = whole.weight.layout;
    std::vector<std::byte> pieces(static_cast<size_t>(layout.bytes()));
    for (int64_t tile = 0; tile < layout.tiles(); tile += 2)
      pack_tiles(layout, parts, tile, std::min<int64_t>(2, layout.tiles() - tile),
                 pieces.data() + tile * layout.tile_bytes());
    EXPECT_TRUE(std::equal(pieces.begin(), pieces.end(), whole.packed.data())) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace nereid::kernels
