// SPDX-License-Identifier: Apache-2.0
#include "calibrate/range_histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nereid::calibrate {
namespace {

using Kind = RangeMethod::Kind;
using testing::HasSubstr;

constexpr RangeMethod kMinMax{.kind = Kind::kMinMax}, kEntropy{.kind = Kind::kEntropy};

RangeMethod percentile(double percent) {
  return {.kind = Kind::kPercentile, .percent = percent};
}

RangeHistogram histogram_of(const std::vector<float>& values) {
  RangeHistogram h;
  EXPECT_TRUE(h.add(values).is_ok());
  return h;
}

std::vector<float> normal(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> numbers;
  std::vector<float> out(count);
  for (float& v : out) v = numbers(random);
  return out;
}

TEST(RangeHistogram, min_max_is_what_was_seen_and_holds_zero) {
  EXPECT_EQ(histogram_of({0.5F, 3, -2}).range(kMinMax), (QuantizedRange{-2, 3}));
  EXPECT_EQ(histogram_of({0.5F, 3}).range(kMinMax), (QuantizedRange{0, 3}));
  EXPECT_EQ(histogram_of({-5, -1}).range(kMinMax), (QuantizedRange{-5, 0}));
}

TEST(RangeHistogram, of_zeros_alone_there_is_no_range) {
  for (const RangeMethod& method : {kMinMax, kEntropy, percentile(99)})
    EXPECT_EQ(histogram_of({0, 0, 0}).range(method), QuantizedRange{}) << method.name();
}

TEST(RangeHistogram, percentiles_leave_out_the_ends) {
  // 0, 1, ..., 9999 and one outlier: numpy.percentile(x, 99) of the first is 9899.01.
  std::vector<float> values;
  for (int i = 0; i < 10000; ++i) values.push_back(static_cast<float>(i));
  values.push_back(16000);
  const RangeHistogram h = histogram_of(values);
  EXPECT_NEAR(h.range(percentile(99)).most, 9900, 8);  // two bins
  EXPECT_EQ(h.range(percentile(100)).most, 16000);
  EXPECT_EQ(h.range(percentile(99)).least, 0);
}

TEST(RangeHistogram, the_entropy_cuts_outliers_and_keeps_the_bulk) {
  std::vector<float> values = normal(200000, 1);
  values.push_back(60);
  const QuantizedRange cut = histogram_of(values).range(kEntropy);
  EXPECT_GT(cut.most, 2.5);
  EXPECT_LT(cut.most, 8);
  EXPECT_LT(cut.least, -2.5);
  // Of numbers spread evenly nothing can be cut without telling less.
  std::vector<float> even;
  for (int i = 0; i < 50000; ++i) even.push_back(static_cast<float>(i) / 50000);
  EXPECT_GT(histogram_of(even).range(kEntropy).most, 0.97);
}

TEST(RangeHistogram, neither_order_nor_splitting_matters) {
  const std::vector<float> small = normal(5000, 2);
  std::vector<float> large = normal(5000, 3);
  for (float& v : large) v *= 1000;
  RangeHistogram growing, shrinking;
  for (size_t i = 0; i < small.size(); i += 100) {
    ASSERT_TRUE(growing.add(std::span(small).subspan(i, 100)).is_ok());
    ASSERT_TRUE(shrinking.add(std::span(large).subspan(i, 100)).is_ok());
  }
  ASSERT_TRUE(growing.add(large).is_ok());
  ASSERT_TRUE(shrinking.add(small).is_ok());
  for (const RangeMethod& method : {kMinMax, kEntropy, percentile(99.9)})
    EXPECT_EQ(growing.range(method), shrinking.range(method)) << method.name();
}

TEST(RangeHistogram, magnitudes_far_apart_fit_one_histogram) {
  const RangeHistogram h = histogram_of({1e-30F, 3e38F, -1e-38F});
  EXPECT_FLOAT_EQ(static_cast<float>(h.range(kMinMax).most), 3e38F);
  EXPECT_GT(h.range(kEntropy).most, 0);
}

TEST(RangeHistogram, what_is_not_finite_is_refused_and_not_counted) {
  RangeHistogram h;
  EXPECT_THAT(h.add(std::vector<float>{1, NAN}).message(), HasSubstr("element 1 is NaN"));
  EXPECT_THAT(h.add(std::vector<float>{-INFINITY}).message(), HasSubstr("element 0 is infinite"));
  EXPECT_EQ(h.count(), 0);
}

TEST(RangeMethod, names_are_read_back) {
  for (const char* name : {"min-max", "entropy", "percentile:99.9"})
    EXPECT_EQ(range_method_from_name(name)->name(), name);
  EXPECT_EQ(range_method_from_name("percentile")->percent, 99.99);
  for (const char* name : {"max", "percentile:", "percentile:50", "percentile:101", "percentile:9x", ""})
    EXPECT_FALSE(range_method_from_name(name).is_ok()) << name;
}

}  // namespace
}  // namespace nereid::calibrate
