// SPDX-License-Identifier: Apache-2.0
#include "base/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nereid {
namespace {

using ::testing::HasSubstr;

Metadata sample() {
  Metadata m;
  EXPECT_TRUE(m.add("yes", true).is_ok());
  EXPECT_TRUE(m.add("layers", int64_t{30}).is_ok());
  EXPECT_TRUE(m.add("eps", 1e-5).is_ok());
  EXPECT_TRUE(m.add("name", std::string_view("smol")).is_ok());
  EXPECT_TRUE(m.add("ints", std::vector<int64_t>{std::numeric_limits<int64_t>::min(), 0, 7}).is_ok());
  EXPECT_TRUE(m.add("numbers", std::vector<double>{0.5, -0.0}).is_ok());
  EXPECT_TRUE(m.add("tokens", std::vector<std::string_view>{"a", "", "bc"}).is_ok());
  return m;
}

TEST(Metadata, every_type_survives_being_written_and_read) {
  const std::string bytes = sample().serialize();
  Result<Metadata> back = Metadata::parse(bytes);
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_EQ(back->entries(), sample().entries());
  EXPECT_EQ(back->serialize(), bytes);
}

TEST(Metadata, a_wrong_type_or_an_absent_key_names_the_key) {
  const Metadata m = sample();
  EXPECT_EQ(m.get_int("absent").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(m.get_int("absent").status().message(), HasSubstr("'absent'"));
  EXPECT_EQ(m.get_int("name").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(m.get_int("name").status().message(), "the metadata key 'name' is a string; expected an integer");
}

TEST(Metadata, an_integer_is_taken_as_a_number_but_not_the_reverse) {
  const Metadata m = sample();
  EXPECT_EQ(m.get_float("layers").value(), 30.0);
  EXPECT_EQ(m.float_or("layers", 0), 30.0);
  EXPECT_FALSE(m.get_int("eps").is_ok());
  EXPECT_EQ(m.int_or("eps", -1), -1);
}

TEST(Metadata, fallbacks_stand_in_for_absent_keys_only) {
  const Metadata m = sample();
  EXPECT_EQ(m.int_or("layers", 1), 30);
  EXPECT_EQ(m.int_or("absent", 1), 1);
  EXPECT_EQ(m.string_or("name", "x"), "smol");
  EXPECT_TRUE(m.bool_or("yes", false));
  EXPECT_EQ(m.strings("tokens")->size(), 3u);
  EXPECT_EQ(m.strings("ints"), nullptr);
  EXPECT_EQ(m.floats("numbers")->size(), 2u);
  EXPECT_EQ(m.ints("ints")->size(), 3u);
}

TEST(Metadata, a_key_may_be_added_once) {
  Metadata m = sample();
  EXPECT_EQ(m.add("layers", int64_t{1}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(m.int_or("layers", 0), 30);
}

TEST(Metadata, owned_text_outlives_a_move) {
  Metadata a;
  ASSERT_TRUE(a.add(a.own(std::string("k")), a.own(std::string("short"))).is_ok());
  const Metadata b = std::move(a);
  EXPECT_EQ(b.string_or("k", ""), "short");
}

TEST(Metadata, bytes_cut_anywhere_are_refused) {
  const std::string bytes = sample().serialize();
  for (size_t n = 0; n < bytes.size(); ++n) {
    const std::string cut = bytes.substr(0, n);
    EXPECT_EQ(Metadata::parse(cut).status().code(), StatusCode::kInvalidArgument) << n;
  }
  EXPECT_THAT(Metadata::parse(bytes + "x").status().message(), HasSubstr("1 bytes are left over"));
}

TEST(Metadata, a_count_larger_than_the_file_reserves_nothing) {
  Metadata m;
  ASSERT_TRUE(m.add("k", std::vector<int64_t>{1}).is_ok());
  std::string bytes = m.serialize();
  bytes.replace(bytes.size() - 16, 8, 8, '\xff');  // the array's count
  EXPECT_EQ(Metadata::parse(bytes).status().code(), StatusCode::kInvalidArgument);
}

TEST(Metadata, an_unknown_type_is_named_with_its_place) {
  Metadata m;
  ASSERT_TRUE(m.add("k\n", true).is_ok());
  std::string bytes = m.serialize();
  bytes[bytes.size() - 2] = 9;
  EXPECT_EQ(Metadata::parse(bytes).status().message(),
            "metadata: the key 'k?' has a value of type 9 at byte 22; expected 0 to 6");
}

}  // namespace
}  // namespace nereid
