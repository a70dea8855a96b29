// SPDX-License-Identifier: Apache-2.0
#include "server/core/latency_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace nereid::server {
namespace {

TEST(LatencyCounts, a_bound_belongs_to_the_bucket_below_it) {
  for (size_t i = 0; i + 1 < LatencyCounts::kBuckets; ++i) {
    const int64_t bound = LatencyCounts::upper_ns(i);
    EXPECT_EQ(LatencyCounts::bucket_of(bound), i) << bound;
    EXPECT_EQ(LatencyCounts::bucket_of(bound + 1), i + 1) << bound;
  }
}

TEST(LatencyCounts, no_bucket_is_wider_than_an_eighth_from_ten_microseconds_on) {
  for (size_t i = 10; i + 1 < LatencyCounts::kBuckets; ++i) {
    const auto lower = static_cast<double>(LatencyCounts::upper_ns(i - 1));
    EXPECT_LE(static_cast<double>(LatencyCounts::upper_ns(i)) - lower, lower * 0.1251) << i;
  }
}

TEST(LatencyCounts, quantiles_are_those_of_sorted_values_within_a_bucket) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> times(13, 2);
  std::vector<double> all;
  LatencyCounts counts;
  for (int i = 0; i < 20'000; ++i) {
    const auto ns = static_cast<int64_t>(times(random));
    all.push_back(static_cast<double>(ns));
    counts.add(ns);
  }
  std::sort(all.begin(), all.end());
  for (const double q : {0.5, 0.9, 0.95, 0.99}) {
    const double exact = all[static_cast<size_t>(q * static_cast<double>(all.size()))];
    EXPECT_NEAR(counts.quantile_ns(q) / exact, 1.0, 0.13) << q;
  }
}

TEST(LatencyCounts, coarser_histograms_are_sums) {
  LatencyCounts counts;
  for (const int64_t ns : {900LL, 250'000LL, 250'001LL, 3'000'000LL, 2'000'000'000'000LL}) counts.add(ns);
  EXPECT_EQ(counts.up_to(1'000), 1u);
  EXPECT_EQ(counts.up_to(250'000), 2u);
  EXPECT_EQ(counts.up_to(2'500'000), 3u);
  EXPECT_EQ(counts.up_to(1'000'000'000'000), 4u);
  EXPECT_EQ(counts.count, 5u);
}

TEST(LatencyCounts, a_window_is_a_difference) {
  LatencyCounts counts;
  counts.add(10'000'000, 100);
  const LatencyCounts then = counts;
  EXPECT_TRUE(std::isnan(counts.since(then).quantile_ns(0.5)));
  counts.add(20'000, 10);
  const LatencyCounts window = counts.since(then);
  EXPECT_EQ(window.count, 10u);
  EXPECT_LE(window.quantile_ns(0.99), 20'000);
}

}  // namespace
}  // namespace nereid::server
