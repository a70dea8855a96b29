// SPDX-License-Identifier: Apache-2.0
#include "ops/attr_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace nereid::ops {
namespace {

using Kind = AttrSpec::Kind;

std::string back_and_forth(Kind kind, std::string_view text) {
  auto value = attr_from_text(kind, text);
  return value.is_ok() ? attr_to_text(*value) : value.status().message();
}

TEST(AttrText, values_read_back_as_they_print) {
  EXPECT_EQ(back_and_forth(Kind::kBool, "true"), "true");
  EXPECT_EQ(back_and_forth(Kind::kInt, "-12"), "-12");
  EXPECT_EQ(back_and_forth(Kind::kFloat, "1e-05"), "1e-05");
  EXPECT_EQ(back_and_forth(Kind::kFloat, "2"), "2.0");
  EXPECT_EQ(back_and_forth(Kind::kFloat, "-inf"), "-inf");
  EXPECT_EQ(back_and_forth(Kind::kString, "silu"), "silu");
  EXPECT_EQ(back_and_forth(Kind::kString, "\"a \\\"b\\\"\\n\\x01\""), "\"a \\\"b\\\"\\n\\x01\"");
  EXPECT_EQ(back_and_forth(Kind::kInts, "[1,  2 ,3]"), "[1, 2, 3]");
  EXPECT_EQ(back_and_forth(Kind::kInts, "[]"), "[]");
  EXPECT_EQ(back_and_forth(Kind::kFloats, "[0.1, 3]"), "[0.1, 3.0]");
  EXPECT_EQ(back_and_forth(Kind::kStrings, "[a, \"b, c\", \"\"]"), "[a, \"b, c\", \"\"]");
}

TEST(AttrText, every_float_survives_the_shortest_text) {
  for (double v : {0.1, -0.0, 5e-324, std::numeric_limits<double>::max(), 1.0 / 3})
    EXPECT_EQ(std::get<double>(*attr_from_text(Kind::kFloat, real_to_text(v))), v);
}

TEST(AttrText, what_is_not_of_the_kind_is_named) {
  EXPECT_EQ(back_and_forth(Kind::kBool, "1"), "'1' is neither true nor false");
  EXPECT_EQ(back_and_forth(Kind::kInt, "1.5"), "'1.5' is no integer");
  EXPECT_EQ(back_and_forth(Kind::kInt, "99999999999999999999"), "'99999999999999999999' is no integer");
  EXPECT_EQ(back_and_forth(Kind::kString, "a b"), "'a b' is not a word; a text with other characters needs quotes");
  EXPECT_EQ(back_and_forth(Kind::kInts, "1"), "'1' is not a list in brackets");
  EXPECT_EQ(back_and_forth(Kind::kInts, "[1,]"), "'' is no integer");
  EXPECT_EQ(back_and_forth(Kind::kString, "\"\\q\""),
            "the escape at character 1 of a quoted text is none of \\n \\t \\r \\\" \\\\ \\xNN");
}

TEST(CompleteAttrs, defaults_are_filled_in_and_integers_widen_to_numbers) {
  Attrs attrs{{"factor", int64_t{2}}};
  ASSERT_TRUE(complete_attrs(*find_op("scale"), attrs).is_ok());
  EXPECT_EQ(attrs.real("factor"), 2.0);
  Attrs norm;
  ASSERT_TRUE(complete_attrs(*find_op("rms_norm"), norm).is_ok());
  EXPECT_EQ(norm.real("eps"), 1e-5);
  EXPECT_EQ(norm.integer("group"), 0);
}

TEST(CompleteAttrs, unknown_missing_and_mistyped_attributes_are_refused) {
  Attrs unknown{{"factor", 1.0}, {"colour", true}};
  EXPECT_EQ(complete_attrs(*find_op("scale"), unknown).message(), "scale has no attribute 'colour'");
  Attrs missing;
  EXPECT_EQ(complete_attrs(*find_op("scale"), missing).message(),
            "attribute 'factor' of scale is required and missing");
  Attrs mistyped{{"factor", std::string("two")}};
  EXPECT_EQ(complete_attrs(*find_op("scale"), mistyped).message(),
            "attribute 'factor' of scale should be a number, but is a text: two");
}

}  // namespace
}  // namespace nereid::ops
