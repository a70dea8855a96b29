// SPDX-License-Identifier: Apache-2.0
#include "cli/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nereid::cli {
namespace {

TEST(Perplexity, log_probabilities_are_those_of_a_softmax) {
  const std::vector<float> even(4, 3.F);
  EXPECT_DOUBLE_EQ(log_probability(even, 2), -std::log(4.0));
  const std::vector<float> two = {0.F, std::log(3.F)};
  EXPECT_NEAR(log_probability(two, 1), std::log(0.75), 1e-7);
  EXPECT_NEAR(log_probability(two, 0), std::log(0.25), 1e-7);
}

TEST(Perplexity, great_logits_do_not_overflow) {
  EXPECT_NEAR(log_probability(std::vector<float>{30000.F, 29999.F}, 0), -std::log1p(std::exp(-1.0)), 1e-12);
}

}  // namespace
}  // namespace nereid::cli
