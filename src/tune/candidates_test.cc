// SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace nereid::tune {
namespace {

using kernels::Problem;
using kernels::Way;

Problem problem(std::string_view text) {
  return kernels::parse_problem(text).value();
}
std::vector<Candidate> list(const Problem& p, int level, std::string_view rule = "gemm", int workers = 2) {
  return candidates({.problem = p, .rule = kernels::parse_tactic(rule).value(), .workers = workers}, kLevels[level]);
}
bool has(const std::vector<Candidate>& candidates, Way way) {
  return std::ranges::any_of(candidates, [&](const Candidate& c) { return c.tactic.way == way; });
}

constexpr std::string_view k3x3 = "conv f32 n=1 h=56 w=56 c=64 o=64 y=56x56 k=3x3 s=1x1 d=1x1 p=1x1 g=1";

TEST(Candidates, the_rules_way_comes_first_and_none_comes_twice) {
  for (int level = 0; level <= kMostLevel; ++level)
    for (std::string_view text : {k3x3, std::string_view("gemm f32|bf16 m=4 n=512 k=512")}) {
      const Problem p = problem(text);
      const std::vector<Candidate> all = list(p, level);
      EXPECT_EQ(all[0].tactic.text(), "gemm");
      std::set<std::string> texts;
      for (const Candidate& c : all) {
        EXPECT_TRUE(texts.insert(c.tactic.text()).second) << c.tactic.text();
        EXPECT_TRUE(kernels::solves(c.tactic, p)) << c.tactic.text();
      }
    }
}

TEST(Candidates, a_higher_level_tries_more) {
  const Problem p = problem(k3x3);
  EXPECT_EQ(list(p, 0).size(), 1U);
  EXPECT_EQ(list(p, 1).size(), 3U);
  EXPECT_GT(list(p, 3).size(), list(p, 2).size());
  EXPECT_GT(list(p, 4).size(), list(p, 3).size());
  EXPECT_GT(list(p, 5).size(), list(p, 4).size());
}

TEST(Candidates, each_way_is_tried_only_where_it_solves) {
  EXPECT_TRUE(has(list(problem(k3x3), 2), Way::kWinograd4));
  EXPECT_FALSE(has(list(problem(k3x3), 5), Way::kDepthwise));
  EXPECT_FALSE(has(list(problem(k3x3), 5), Way::kBF16)) << "the caller wants f32";
  const Problem strided = problem("conv f32|bf16 n=1 h=56 w=56 c=64 o=64 y=28x28 k=3x3 s=2x2 d=1x1 p=1x1 g=1");
  EXPECT_FALSE(has(list(strided, 5), Way::kWinograd2));
  EXPECT_TRUE(has(list(strided, 2), Way::kBF16));
  const Problem depthwise = problem("conv f32|bf16 n=1 h=56 w=56 c=64 o=64 y=56x56 k=3x3 s=1x1 d=1x1 p=1x1 g=64");
  EXPECT_TRUE(has(list(depthwise, 2, "depthwise"), Way::kGemm));
  EXPECT_FALSE(has(list(depthwise, 2, "depthwise"), Way::kBF16));
}

TEST(Candidates, what_costs_memory_or_precision_has_a_handicap) {
  for (const Candidate& c : list(problem(k3x3), 5))
    EXPECT_EQ(c.handicap > 0, c.tactic.way == Way::kWinograd2 || c.tactic.way == Way::kWinograd4);
}

TEST(Candidates, one_worker_has_nothing_to_share) {
  for (const Candidate& c : list(problem(k3x3), 5, "gemm", 1)) EXPECT_EQ(c.tactic.blocking.gemm.across, 0);
}

}  // namespace
}  // namespace nereid::tune
