// SPDX-License-Identifier: Apache-2.0
// The reader on damaged and hostile files: each gives a sentence that names the fault, and nothing else happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <vector>

#include "import/gguf/gguf.h"

namespace nereid::import::gguf {
namespace {

using testing::HasSubstr;

// Builds a file piece by piece; every field can be told to lie.
class Bytes {
 public:
  template <typename T>
  Bytes& number(T value) {
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof(T));
    return *this;
  }
  Bytes& u32(uint32_t v) { return number(v); }
  Bytes& u64(uint64_t v) { return number(v); }
  Bytes& text(std::string_view s) {
    u64(s.size());
    const auto* raw = reinterpret_cast<const std::byte*>(s.data());
    bytes_.insert(bytes_.end(), raw, raw + s.size());
    return *this;
  }
  Bytes& header(uint64_t tensors, uint64_t pairs) {
    return number(std::array{'G', 'G', 'U', 'F'}).u32(3).u64(tensors).u64(pairs);
  }
  Bytes& pair_u32(std::string_view key, uint32_t value) { return text(key).u32(4).u32(value); }
  Bytes& tensor(std::string_view name, std::vector<uint64_t> dims, uint32_t type, uint64_t offset) {
    text(name).u32(static_cast<uint32_t>(dims.size()));
    for (uint64_t d : dims) u64(d);
    return u32(type).u64(offset);
  }
  // Pads to `alignment` and adds the data section.
  Bytes& data(size_t bytes, size_t alignment = 32) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment + bytes);
    return *this;
  }
  // What parse() says about it; "" if it accepts.
  std::string fault() const {
    const auto file = parse(bytes_);
    return file ? "" : file.status().message();
  }
  StatusCode code() const { return parse(bytes_).status().code(); }

 private:
  std::vector<std::byte> bytes_;
};

constexpr uint32_t kF32 = 0, kQ4_0 = 2, kQ4_K = 12, kString = 8, kArray = 9, kBool = 7, kU64 = 10;

TEST(GgufBadInput, sound_files_of_the_builder_are_accepted) {
  EXPECT_EQ(Bytes().header(0, 0).fault(), "");
  EXPECT_EQ(Bytes().header(1, 1).pair_u32("k", 1).tensor("t", {2}, kF32, 0).data(8).fault(), "");
  EXPECT_EQ(Bytes().header(2, 0).tensor("a", {0, 5}, kF32, 0).tensor("b", {2}, kF32, 0).data(8).fault(), "")
      << "a tensor without elements takes no bytes, so it overlaps nothing";
}

TEST(GgufBadInput, foreign_bytes_are_named) {
  EXPECT_THAT(Bytes().fault(), HasSubstr("the file is empty"));
  EXPECT_THAT(Bytes().u32(1).u32(2).fault(), HasSubstr("does not start with the four letters GGUF"));
}

TEST(GgufBadInput, other_versions_are_named) {
  const auto version = [](uint32_t v) { return Bytes().number(std::array{'G', 'G', 'U', 'F'}).u32(v).u64(0).u64(0); };
  EXPECT_THAT(version(0).fault(), HasSubstr("GGUF version 0; expected version 2 or 3"));
  EXPECT_THAT(version(1).fault(), HasSubstr("GGUF version 1; expected version 2 or 3: convert the model again"));
  EXPECT_THAT(version(4).fault(), HasSubstr("GGUF version 4; expected version 2 or 3"));
  EXPECT_THAT(version(0x03000000).fault(), HasSubstr("the file is big endian"));
  EXPECT_EQ(version(1).code(), StatusCode::kUnsupported);
}

TEST(GgufBadInput, counts_are_checked_against_the_bytes_that_are_left) {
  EXPECT_THAT(Bytes().header(0, uint64_t{1} << 63).fault(), HasSubstr("claims 9223372036854775808 metadata pairs"));
  EXPECT_THAT(Bytes().header(~uint64_t{0}, 0).fault(), HasSubstr("claims 18446744073709551615 tensors"));
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(kArray).u32(4).u64(uint64_t{1} << 62).data(64).fault(),
              HasSubstr("claims 4611686018427387904 items"));
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(kArray).u32(kString).u64(1000).data(64).fault(),
              HasSubstr("claims 1000 items of at least 8 bytes"));
  EXPECT_THAT(Bytes().header(0, 1).u64(~uint64_t{0}).data(64).fault(),
              HasSubstr("the file ends inside the key of metadata pair 1 of 1"));
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(kString).u64(500).data(64).fault(),
              HasSubstr("the file ends inside the metadata value 'k'"));
}

TEST(GgufBadInput, more_metadata_than_any_model_has_is_refused_before_it_is_read) {
  EXPECT_THAT(Bytes().header(0, 65537).data(14 * 65537).fault(),
              HasSubstr("65537 metadata pairs; expected at most 65536"));
}

TEST(GgufBadInput, values_that_mean_nothing_are_named) {
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(13).data(64).fault(),
              HasSubstr("'k' has the value type 13; expected a type from 0 to 12"));
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(kArray).u32(77).u64(0).data(64).fault(),
              HasSubstr("'k' is an array of type 77"));
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(kArray).u32(kArray).u64(1).data(64).fault(),
              HasSubstr("'k' is an array of arrays"));
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(kBool).number(uint8_t{2}).data(64).fault(),
              HasSubstr("a boolean is stored as 2"));
  EXPECT_THAT(Bytes().header(0, 1).text("k").u32(kU64).u64(~uint64_t{0}).data(64).fault(), HasSubstr("over 2^63 - 1"));
  EXPECT_THAT(Bytes().header(0, 1).text("").u32(kBool).number(uint8_t{1}).data(64).fault(),
              HasSubstr("the key of metadata pair 1 of 1 is empty"));
}

TEST(GgufBadInput, duplicates_are_named) {
  EXPECT_THAT(Bytes().header(0, 2).pair_u32("same", 1).pair_u32("same", 2).fault(),
              HasSubstr("the metadata key 'same' appears twice"));
  EXPECT_THAT(Bytes().header(2, 0).tensor("same", {2}, kF32, 0).tensor("same", {2}, kF32, 32).data(64).fault(),
              HasSubstr("the tensor 'same' appears twice"));
}

TEST(GgufBadInput, alignments_that_cannot_be_are_named) {
  const auto alignment = [](uint32_t a) { return Bytes().header(0, 1).pair_u32("general.alignment", a); };
  EXPECT_THAT(alignment(0).fault(), HasSubstr("general.alignment is 0; expected a positive multiple of 8"));
  EXPECT_THAT(alignment(12).fault(), HasSubstr("general.alignment is 12"));
  EXPECT_EQ(alignment(64).fault(), "");
  EXPECT_THAT(Bytes().header(0, 1).text("general.alignment").u32(kString).text("32").fault(),
              HasSubstr("general.alignment"));
}

TEST(GgufBadInput, shapes_that_cannot_be_are_named) {
  constexpr uint64_t kHuge = uint64_t{1} << 40;
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {1, 1, 1, 1, 1}, kF32, 0).data(64).fault(),
              HasSubstr("tensor 't': it has 5 dimensions"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {kHuge, kHuge}, kF32, 0).data(64).fault(),
              HasSubstr("multiply to more than 2^63 - 1 elements"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {uint64_t{1} << 62}, kF32, 0).data(64).fault(),
              HasSubstr("need more than 2^63 - 1 bytes"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {~uint64_t{0}}, kF32, 0).data(64).fault(),
              HasSubstr("its dimension 0 is 18446744073709551615"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {48, 2}, kQ4_0, 0).data(64).fault(),
              HasSubstr("its row of 48 elements is not a whole number of q4_0 blocks of 32"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {576, 2}, kQ4_K, 0).data(999).fault(),
              HasSubstr("its row of 576 elements is not a whole number of q4_k blocks of 256"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("", {2}, kF32, 0).data(64).fault(), HasSubstr("its name has 0 bytes"));
}

TEST(GgufBadInput, tensor_types_without_a_decoder_are_named_with_what_there_is) {
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {32}, 16, 0).data(64).fault(),
              HasSubstr("its type IQ2_XXS (number 16) cannot be read yet; supported are F32, F16, Q4_0"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {32}, 9999, 0).data(64).fault(),
              HasSubstr("its type number 9999 is unknown; supported are F32"));
  EXPECT_EQ(Bytes().header(1, 0).tensor("t", {32}, 4, 0).data(64).code(), StatusCode::kUnsupported);
}

TEST(GgufBadInput, offsets_outside_the_data_section_are_named) {
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {2}, kF32, 8).data(64).fault(),
              HasSubstr("its offset 8 is not a multiple of the file's alignment 32"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {2}, kF32, 64).data(64).fault(),
              HasSubstr("end past the data section of 64 bytes"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {2}, kF32, ~uint64_t{31}).data(64).fault(),
              HasSubstr("end past the data section"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {2}, kF32, 0).data(7).fault(),
              HasSubstr("end past the data section of 7 bytes"));
  EXPECT_THAT(Bytes().header(1, 0).tensor("t", {2}, kF32, 0).fault(),
              HasSubstr("end past the data section of 0 bytes"));
}

TEST(GgufBadInput, overlapping_tensors_are_named) {
  EXPECT_THAT(Bytes().header(2, 0).tensor("a", {16}, kF32, 0).tensor("b", {2}, kF32, 32).data(64).fault(),
              HasSubstr("tensors 'a' and 'b' overlap"));
  EXPECT_THAT(Bytes().header(2, 0).tensor("a", {2}, kF32, 0).tensor("b", {2}, kF32, 0).data(64).fault(),
              HasSubstr("overlap"));
}

TEST(GgufBadInput, every_truncation_and_every_flipped_bit_is_survived) {
  std::ifstream in(std::string(NEREID_SOURCE_DIR) + "/tests/data/gguf/all_types.gguf", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty());
  std::vector<std::byte> whole(text.size());
  std::memcpy(whole.data(), text.data(), text.size());

  const std::span<const std::byte> all = whole;
  size_t last_tensor_byte = 0;
  const auto sound = parse(all);
  ASSERT_TRUE(sound);
  for (const Tensor& t : sound->tensors)
    last_tensor_byte =
        std::max<size_t>(last_tensor_byte, static_cast<const std::byte*>(t.view.data) - all.data() + t.view.bytes());
  for (size_t length = 0; length < last_tensor_byte; ++length) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
    const auto file = parse(cut);
    ASSERT_FALSE(file) << "cut at " << length;
    ASSERT_FALSE(file.status().message().empty());
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    whole[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    if (const auto file = parse(all); !file) {
      ASSERT_FALSE(file.status().message().empty());
    }
    whole[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
  }
}

}  // namespace
}  // namespace nereid::import::gguf
