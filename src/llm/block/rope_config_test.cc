// SPDX-License-Identifier: Apache-2.0
// Rope tables: which of the scalings depends on the length, and how stored divisors relate to computed ones.
// (That the formulas are the original framework's is shown by the goldens of llm/arch.)
#include "llm/block/rope_config.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nereid::llm {
namespace {

RopeConfig scaled(RopeScaling scaling) {
  RopeConfig c;
  c.theta = 500;
  c.dim = 16;
  c.scaling = scaling;
  c.factor = 8;
  c.original_context = 32;
  return c;
}

TEST(RopeTable, unscaled_frequencies_fall_geometrically_from_one) {
  RopeConfig c;
  c.theta = 10000;
  c.dim = 8;
  const RopeTable table = rope_table(c, 100);
  ASSERT_EQ(table.inv_freq.size(), 4u);
  EXPECT_FLOAT_EQ(table.inv_freq[0], 1.0f);
  EXPECT_FLOAT_EQ(table.inv_freq[1], 0.1f);
  EXPECT_FLOAT_EQ(table.inv_freq[2], 0.01f);
  EXPECT_FLOAT_EQ(table.inv_freq[3], 0.001f);
  EXPECT_EQ(table.scale, 1.0);
}

TEST(RopeTable, dynamic_scaling_is_none_up_to_the_original_context) {
  const RopeConfig c = scaled(RopeScaling::kDynamic);
  RopeConfig none = c;
  none.scaling = RopeScaling::kNone;
  EXPECT_EQ(rope_table(c, 32).inv_freq, rope_table(none, 32).inv_freq);
  EXPECT_NE(rope_table(c, 33).inv_freq, rope_table(none, 33).inv_freq);
}

TEST(RopeTable, longrope_takes_the_long_list_only_beyond_the_original_context) {
  RopeConfig c = scaled(RopeScaling::kLongRope);
  c.short_factors.assign(8, 1.0);
  c.long_factors.assign(8, 2.0);
  EXPECT_FLOAT_EQ(rope_table(c, 32).inv_freq[0], 1.0f);
  EXPECT_FLOAT_EQ(rope_table(c, 33).inv_freq[0], 0.5f);
}

// Phi-3 with 128k tokens from 4k: sqrt(1 + ln 32 / ln 4096) = 1.190, for short and long sequences alike.
TEST(RopeTable, longrope_scales_by_the_published_multiplier) {
  RopeConfig c = scaled(RopeScaling::kLongRope);
  c.factor = 32;
  c.original_context = 4096;
  c.short_factors.assign(8, 1.0);
  c.long_factors.assign(8, 1.0);
  EXPECT_NEAR(rope_table(c, 4096).scale, 1.190, 5e-4);
  EXPECT_NEAR(rope_table(c, 131072).scale, 1.190, 5e-4);
}

TEST(RopeTable, yarn_keeps_fast_pairs_and_divides_slow_ones) {
  RopeConfig c = scaled(RopeScaling::kYarn);
  c.theta = 1e6;
  c.dim = 128;
  c.factor = 4;
  c.original_context = 32768;
  RopeConfig none = c;
  none.scaling = RopeScaling::kNone;
  const RopeTable yarn = rope_table(c, 131072), plain = rope_table(none, 131072);
  EXPECT_FLOAT_EQ(yarn.inv_freq.front(), plain.inv_freq.front());
  EXPECT_FLOAT_EQ(yarn.inv_freq.back(), plain.inv_freq.back() / 4);
  EXPECT_NEAR(yarn.scale, 0.1 * std::log(4.0) + 1, 1e-12);
}

// GGUF files carry Llama 3's scaling as divisors; those of tests/golden/arch/llama_llama3.json, made by llama.cpp's
// converter, must give what the rule gives.
TEST(RopeTable, stored_divisors_equal_the_llama3_rule) {
  RopeConfig stored = scaled(RopeScaling::kNone);
  stored.divisors = {1.0, 1.9363504648208618, 6.781181335449219, 8.0, 8.0, 8.0, 8.0, 8.0};
  const RopeTable by_file = rope_table(stored, 64), by_rule = rope_table(scaled(RopeScaling::kLlama3), 64);
  for (size_t j = 0; j < 8; ++j) EXPECT_NEAR(by_file.inv_freq[j] / by_rule.inv_freq[j], 1, 1e-6) << j;
}

}  // namespace
}  // namespace nereid::llm
