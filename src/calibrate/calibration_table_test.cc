// SPDX-License-Identifier: Apache-2.0
#include "calibrate/calibration_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::calibrate {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto table = parse_calibration_table(text);
  EXPECT_FALSE(table.is_ok());
  return table.is_ok() ? "" : table.status().message();
}

TEST(CalibrationTable, what_is_written_is_read_back_sorted_by_name) {
  const CalibrationTable table{.method = "percentile:99.9",
                               .ranges = {{"z: a name", {-0.1F, 0.30000001192092896}}, {"a", {0, 6}}}};
  const std::string text = print_calibration_table(table);
  EXPECT_EQ(text, "nereid calibration 1 percentile:99.9\n0 6 a\n-0.100000001 0.300000012 z: a name\n");
  const auto again = parse_calibration_table(text);
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  EXPECT_EQ(again->ranges, table.ranges);
  EXPECT_EQ(again->method, table.method);
  EXPECT_FALSE(again->is_foreign);
}

TEST(CalibrationTable, caches_of_tensorrt_hold_scales_as_bits) {
  // 0x3f800000 is 1.0F, 0x3c010a14 is 0.0078759...F.
  const auto table = parse_calibration_table("TRT-8601-EntropyCalibration2\r\ninput: 3f800000\nconv:0: 3c010a14\n");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  EXPECT_TRUE(table->is_foreign);
  EXPECT_EQ(table->ranges.at("input"), (QuantizedRange{-127, 127}));
  EXPECT_NEAR(table->ranges.at("conv:0").most, 127 * 0.00787593797, 1e-6);
}

TEST(CalibrationTable, damaged_ones_are_refused_with_their_line) {
  EXPECT_THAT(refusal(""), HasSubstr("no calibration cache"));
  EXPECT_THAT(refusal("something\n"), HasSubstr("no calibration cache"));
  EXPECT_THAT(refusal("nereid calibration 2 entropy\n"), HasSubstr("version '2'"));
  EXPECT_THAT(refusal("nereid calibration 1 entropy\n0 1 a\n1 2 b\n"), HasSubstr("line 3"));
  EXPECT_THAT(refusal("nereid calibration 1 entropy\n-1 x a\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("nereid calibration 1 entropy\n-1 inf a\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("nereid calibration 1 entropy\n0 1 a\n0 1 a\n"), HasSubstr("second time"));
  EXPECT_THAT(refusal("TRT-8601-X\na 3f800000\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("TRT-8601-X\na: 7fc00000\n"), HasSubstr("line 2"));  // NaN
  EXPECT_THAT(refusal("TRT-8601-X\na: 3f80000000\n"), HasSubstr("line 2"));
}

}  // namespace
}  // namespace nereid::calibrate
