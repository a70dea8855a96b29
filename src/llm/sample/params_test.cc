// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace nereid::sample {
namespace {

using ::testing::HasSubstr;

TEST(SamplingParams, the_defaults_are_valid_and_greedy) {
  const SamplingParams params;
  EXPECT_TRUE(params.validate().is_ok());
  EXPECT_TRUE(params.is_greedy());
  EXPECT_FALSE(params.has_penalties());
}

TEST(SamplingParams, every_setting_can_be_set_to_its_bounds_and_not_beyond) {
  std::set<std::string_view> names;
  for (const Setting& s : setting_table()) {
    SCOPED_TRACE(s.name);
    EXPECT_TRUE(names.insert(s.name).second);
    EXPECT_FALSE(s.help.empty());
    SamplingParams params;
    for (double bound : {s.low, s.high}) {
      ASSERT_TRUE(set(&params, s.name, bound).is_ok());
      EXPECT_NEAR(get(params, s), bound, 1e-6 * std::abs(bound));
    }
    const Status low = set(&params, s.name, s.low - 1);
    EXPECT_EQ(low.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(low.message(), HasSubstr(std::string(s.name)));
    EXPECT_FALSE(set(&params, s.name, std::numeric_limits<double>::quiet_NaN()).is_ok());
    EXPECT_FALSE(set(&params, s.name, std::numeric_limits<double>::infinity()).is_ok());
  }
}

TEST(SamplingParams, a_whole_setting_refuses_a_fraction) {
  SamplingParams params;
  EXPECT_EQ(set(&params, "top_k", 1.5).message(), "top_k must be a whole number, found 1.5.");
  EXPECT_EQ(set(&params, "top_q", 1).code(), StatusCode::kNotFound);
}

TEST(SamplingParams, what_no_table_bounds_is_checked_too) {
  SamplingParams params;
  params.stop = {""};
  EXPECT_THAT(params.validate().message(), HasSubstr("empty"));
  params.stop.assign(kMaxStops + 1, "x");
  EXPECT_FALSE(params.validate().is_ok());
  params.stop = {std::string(kMaxStopBytes + 1, 'x')};
  EXPECT_FALSE(params.validate().is_ok());
  params = {};
  params.logit_bias = {{-1, 0.0F}};
  EXPECT_FALSE(params.validate().is_ok());
  params.logit_bias = {{1, std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_FALSE(params.validate().is_ok());
  params.logit_bias = {{1, -std::numeric_limits<float>::infinity()}};
  EXPECT_TRUE(params.validate().is_ok());
  params.logit_bias.clear();
  for (int32_t token = 0; token <= static_cast<int32_t>(kMaxTokenIds); ++token) params.logit_bias[token] = 1;
  EXPECT_THAT(params.validate().message(), HasSubstr("at most 4096 entries of logit_bias"));
  params = {};
  params.allowed_token_ids.assign(kMaxTokenIds + 1, 1);
  EXPECT_FALSE(params.validate().is_ok());
  params = {};
  params.dry_sequence_breakers = {std::string(kMaxBreakerBytes + 1, 'x')};
  EXPECT_FALSE(params.validate().is_ok());
  params = {};
  params.min_tokens = 5;
  params.max_tokens = 4;
  EXPECT_THAT(params.validate().message(), HasSubstr("min_tokens is 5"));
}

}  // namespace
}  // namespace nereid::sample
