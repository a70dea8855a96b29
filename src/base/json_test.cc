// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::HasSubstr;

std::string fault(std::string_view text, const JsonLimits& limits = {}) {
  const Result<Json> r = parse_json(text, limits);
  EXPECT_FALSE(r.is_ok()) << text;
  EXPECT_EQ(r.status().code(), StatusCode::kInvalidArgument);
  return r.status().message();
}

TEST(Json, a_document_is_what_the_library_itself_reads) {
  constexpr std::string_view kText =
      R"({"a":[1,-2,2.5,1e3,true,false,null,"x\u00e9\n"],"b":{"c":{},"d":[]},"":[[[[]]]],"u":18446744073709551615})";
  EXPECT_EQ(parse_json(kText).value(), Json::parse(kText));
  EXPECT_EQ(parse_json(" 3 ").value(), Json(3));
  EXPECT_EQ(parse_json("\xef\xbb\xbf[]").value(), Json::array());
}

TEST(Json, of_members_with_the_same_name_the_last_counts) {
  EXPECT_EQ(parse_json(R"({"a":[1,{"b":2}],"a":{"c":3}})").value(), Json::parse(R"({"a":{"c":3}})"));
}

TEST(Json, a_fault_is_located_by_line_and_column) {
  EXPECT_THAT(fault("{\n  \"a\": 1,\n  \"b\" 2\n}"), HasSubstr("line 3, column 7: "));
  EXPECT_THAT(fault("[1,]"), HasSubstr("line 1, column 4: "));
  EXPECT_THAT(fault(""), HasSubstr("line 1, column 1: unexpected end of input"));
  EXPECT_THAT(fault("[1"), HasSubstr("line 1, column 3: unexpected end of input"));
  EXPECT_THAT(fault("{} x"), HasSubstr("line 1, column 4: "));
}

TEST(Json, odd_texts_are_refused) {
  for (const char* text : {"nul", "\"a", "\"\\x\"", "\"\xff\"", "\"\\ud800\"", "01", "1.", "+1", "{1:2}", "[1 2]",
                           "NaN", "1e999", "{\"a\":}", "'a'", "[\"\n\"]", "\x00"})
    fault(text);
  fault(std::string_view("[\0]", 3));
}

TEST(Json, nesting_and_length_are_bounded) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(fault(deep), HasSubstr("deeper than the 128 levels"));
  EXPECT_TRUE(parse_json("[[1]]", {.max_depth = 2}).is_ok());
  EXPECT_THAT(fault("[[[1]]]", {.max_depth = 2}), HasSubstr("2 levels"));
  EXPECT_THAT(fault("[1,2]", {.max_bytes = 4}), HasSubstr("5 bytes long; expected at most 4"));
}

TEST(Json, typed_access_names_the_member_and_what_was_found) {
  const Json j =
      parse_json(R"({"s":"x","i":7,"e":1e3,"f":0.5,"b":true,"n":null,"a":[1],"o":{},"u":18446744073709551615})")
          .value();
  EXPECT_EQ(json_string(j, "s").value(), "x");
  EXPECT_EQ(json_int(j, "i").value(), 7);
  EXPECT_EQ(json_int(j, "e").value(), 1000);
  EXPECT_EQ(json_float(j, "i").value(), 7.0);
  EXPECT_EQ(json_float(j, "f").value(), 0.5);
  EXPECT_TRUE(json_bool(j, "b").value());
  EXPECT_EQ(json_array(j, "a").value()->size(), 1u);
  EXPECT_TRUE(json_object(j, "o").value()->empty());
  EXPECT_EQ(json_string(j, "z").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(json_string(j, "i").status().message(), "expected the member 'i' to be a string, found a number");
  EXPECT_FALSE(json_int(j, "f").is_ok());
  EXPECT_FALSE(json_int(j, "u").is_ok());
  EXPECT_FALSE(json_int(j, "b").is_ok());
  EXPECT_THAT(json_int(Json::array(), "k").status().message(),
              HasSubstr("an object with the member 'k', found an array"));
}

TEST(Json, a_fallback_stands_for_absent_and_null_only) {
  const Json j = parse_json(R"({"i":7,"n":null,"s":"x"})").value();
  EXPECT_EQ(json_int_or(j, "i", 1).value(), 7);
  EXPECT_EQ(json_int_or(j, "n", 1).value(), 1);
  EXPECT_EQ(json_int_or(j, "z", 1).value(), 1);
  EXPECT_FALSE(json_int_or(j, "s", 1).is_ok());
  EXPECT_EQ(json_string_or(j, "z", "d").value(), "d");
  EXPECT_EQ(json_float_or(j, "z", 2.0).value(), 2.0);
  EXPECT_TRUE(json_bool_or(j, "z", true).value());
  EXPECT_EQ(json_find(j, "n"), nullptr);
  EXPECT_NE(json_find(j, "s"), nullptr);
  EXPECT_EQ(json_find(Json(1), "s"), nullptr);
}

}  // namespace
}  // namespace nereid
