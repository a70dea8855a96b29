// SPDX-License-Identifier: Apache-2.0
// cast and bit_cast.
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

Tensor texts(std::vector<std::string> values) {
  Tensor t = Tensor::zeros(DType::string, {static_cast<int64_t>(values.size())}).value();
  t.strings = std::move(values);
  return t;
}

std::vector<double> cast(Tensor x, const char* dtype, Attrs attrs = {}) {
  attrs.set("dtype", std::string(dtype));
  return numbers_of("cast", {std::move(x)}, std::move(attrs));
}

TEST(Cast, every_pair_of_plain_types_keeps_the_small_numbers_both_have) {
  for (int i = 0; i < static_cast<int>(DType::q4_0); ++i) {
    const DType from = static_cast<DType>(i);
    if (dtype_info(from).kind == DTypeInfo::Kind::kComplex) continue;
    for (int j = 0; j < static_cast<int>(DType::q4_0); ++j) {
      const DType to = static_cast<DType>(j);
      if (dtype_info(to).kind == DTypeInfo::Kind::kComplex) continue;
      const Tensor ones = from == DType::string ? texts({"1", "1", "1"}) : Tensor::of(from, {3}, {1, 1, 1});
      const Tensor y = run_op("cast", {ones}, {{"dtype", std::string(dtype_name(to))}})[0];
      EXPECT_EQ(y.dtype, to);
      if (to == DType::string)
        EXPECT_EQ(y.strings[2], "1") << dtype_name(from);
      else
        EXPECT_THAT(y.numbers(), near({1, 1, 1}, 0)) << dtype_name(from) << " " << dtype_name(to);
    }
  }
}

TEST(Cast, integers_keep_their_low_bits) {
  EXPECT_THAT(cast(i32({3}, {200, -1, 256}), "i8"), near({-56, -1, 0}, 0));
  EXPECT_THAT(cast(i32({2}, {9, -9}), "i4"), near({-7, 7}, 0));
  EXPECT_THAT(cast(i32({2}, {5, -1}), "u2"), near({1, 3}, 0));
  EXPECT_THAT(cast(Tensor::of(DType::boolean, {2}, {0, 1}), "i2"), near({0, 1}, 0));
  EXPECT_THAT(cast(f32({4}, {0, -0.0, 0.5, NAN}), "bool"), near({0, 0, 1, 1}, 0));
}

TEST(Cast, f64_is_rounded_once_to_narrow_floats) {
  // Just above the middle of two neighbours of f16; f32 would drop what is above.
  const double x = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(cast(Tensor::of(DType::f64, {1}, {x}), "f16")[0], 1 + 0x1p-10);
  EXPECT_EQ(cast(Tensor::of(DType::f64, {1}, {-1e300}), "bf16")[0], -INFINITY);
}

TEST(Cast, numbers_past_the_largest_f8_saturate_if_asked_to) {
  const Tensor x = f32({4}, {1e6, -INFINITY, 448, 1});
  EXPECT_THAT(cast(x, "f8e4m3"), near({448, -448, 448, 1}, 0));
  const auto special = cast(x, "f8e4m3", {{"saturate", false}});
  EXPECT_TRUE(std::isnan(special[0]) && std::isnan(special[1]));
  EXPECT_THAT(cast(x, "f8e5m2"), near({57344, -57344, 448, 1}, 0));
  EXPECT_EQ(cast(x, "f8e5m2", {{"saturate", false}})[1], -INFINITY);
  EXPECT_TRUE(std::isnan(cast(x, "f8e4m3fnuz", {{"saturate", false}})[0]));
  EXPECT_THAT(cast(f32({3}, {5, -100, NAN}), "f4e2m1"), near({4, -6, 0}, 0));
}

TEST(Cast, powers_of_two_are_rounded_as_asked) {
  const Tensor x = f32({5}, {0.124, 0.25, 1.1, 1.5, 3.9});
  EXPECT_THAT(cast(x, "f8e8m0"), near({0.125, 0.25, 2, 2, 4}, 0));
  EXPECT_THAT(cast(x, "f8e8m0", {{"round_mode", "down"}}), near({0.0625, 0.25, 1, 1, 2}, 0));
  EXPECT_THAT(cast(x, "f8e8m0", {{"round_mode", "nearest"}}), near({0.125, 0.25, 1, 2, 4}, 0));
  EXPECT_THAT(cast(f32({3}, {0, INFINITY, 3e38}), "f8e8m0"), near({0x1p-127, 0x1p127, 0x1p127}, 0));
  const auto special = cast(f32({3}, {0, INFINITY, NAN}), "f8e8m0", {{"saturate", false}});
  for (double v : special) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(refusal("cast", {x}, {{"dtype", "f8e8m0"}, {"round_mode", "odd"}}),
            "round_mode is 'odd' and should be up, down or nearest");
}

TEST(Cast, texts_are_read_as_numbers) {
  EXPECT_THAT(cast(texts({"3.14", " 1e-5 ", "1E8", "+2", "-7"}), "f64"), near({3.14, 1e-5, 1e8, 2, -7}, 0));
  EXPECT_THAT(cast(texts({"+INF", "inf", "-Inf"}), "f32"), testing::ElementsAre(INFINITY, INFINITY, -INFINITY));
  EXPECT_TRUE(std::isnan(cast(texts({"NaN"}), "f16")[0]));
  EXPECT_THAT(cast(texts({"1e999", "-1e999", "1e-999"}), "f64"), testing::ElementsAre(INFINITY, -INFINITY, 0));
  EXPECT_THAT(cast(texts({"100.5", "-3", "9007199254740993"}), "i64"), near({100, -3, 9007199254740992.0}, 1));
  EXPECT_THAT(cast(texts({"true", "FALSE", "2", "0"}), "bool"), near({1, 0, 1, 0}, 0));
  EXPECT_EQ(refusal("cast", {texts({"1", "two"})}, {{"dtype", "f32"}}), "the text 'two' is no number");
  EXPECT_EQ(refusal("cast", {texts({""})}, {{"dtype", "i32"}}), "the text '' is no number");
}

TEST(Cast, numbers_are_written_with_the_digits_they_need) {
  const auto written = [](Tensor x) { return run_op("cast", {std::move(x)}, {{"dtype", "string"}})[0].strings; };
  EXPECT_THAT(written(f32({4}, {0.1, 314.15926, 1, -2.5})), testing::ElementsAre("0.1", "314.15927", "1", "-2.5"));
  EXPECT_THAT(written(f32({3}, {NAN, INFINITY, -INFINITY})), testing::ElementsAre("NaN", "INF", "-INF"));
  EXPECT_THAT(written(Tensor::of(DType::f64, {1}, {0.1})), testing::ElementsAre("0.1"));
  EXPECT_THAT(written(Tensor::of(DType::i8, {1}, {-3})), testing::ElementsAre("-3"));
  EXPECT_THAT(written(Tensor::of(DType::boolean, {2}, {0, 1})), testing::ElementsAre("0", "1"));
}

TEST(BitCast, bits_stay_as_they_are) {
  const Tensor y = run_op("bit_cast", {f32({2}, {1, -2})}, {{"dtype", "i32"}})[0];
  EXPECT_THAT(y.numbers(), near({0x3f800000, -0x40000000}, 0));
  EXPECT_THAT(numbers_of("bit_cast", {Tensor::of(DType::i4, {3}, {-1, 2, -8})}, {{"dtype", "u4"}}),
              near({15, 2, 8}, 0));
  EXPECT_EQ(refusal("bit_cast", {f32({1}, {1})}, {{"dtype", "i16"}}),
            "an element of x f32[1] has 32 bits, one of i16 has 16");
  EXPECT_EQ(refusal("bit_cast", {f32({1}, {1})}, {{"dtype", "string"}}),
            "the bits of x f32[1] cannot be read as string");
}

}  // namespace
}  // namespace nereid::ops
