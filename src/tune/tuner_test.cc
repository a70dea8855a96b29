// SPDX-License-Identifier: Apache-2.0
// choose() with races whose outcome the test decides, and one real race.
#include "tune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::tune {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view kConv = "conv f32 n=1 h=56 w=56 c=64 o=64 y=56x56 k=3x3 s=1x1 d=1x1 p=1x1 g=1";
constexpr std::string_view kSmall = "gemm f32 m=1 n=64 k=64";
const DeviceKey kHere{.machine = "Some CPU", .threads = 2};

struct Bench {
  VirtualClock clock;
  TimingCache cache;
  std::vector<Task> tasks = {{std::string(kSmall), "gemm", 1}, {std::string(kConv), "gemm", 2}};
  int64_t race_ns = 1'000'000;
  std::vector<std::string> raced;
  std::vector<int64_t> budgets;

  // The last candidate always wins by a half.
  Result<RaceResult> race(const kernels::Problem& problem, const std::vector<Candidate>& list, const RaceRules& rules) {
    raced.push_back(problem.text());
    budgets.push_back(rules.budget_ns);
    clock.advance(race_ns);
    RaceResult result{.racers = std::vector<Racer>(list.size()), .winner = list.size() - 1, .reason = "it was told to"};
    for (Racer& r : result.racers) r.best_ns = 2000;
    result.racers.back().best_ns = 1000;
    return result;
  }
  Result<std::vector<ProblemChoice>> choose(int level, std::function<bool()> stop = {}) {
    return tune::choose(
        {.tasks = tasks, .level = level, .device = kHere, .stop = std::move(stop)},
        [this](const auto& p, const auto& l, const auto& r) { return race(p, l, r); }, clock, cache);
  }
};

TEST(Tuner, level_0_asks_the_rules_and_times_nothing) {
  Bench b;
  const auto answers = b.choose(0).value();
  EXPECT_THAT(b.raced, SizeIs(0));
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_EQ(answers[0].chosen, "gemm");
  EXPECT_EQ(b.cache.size(), 0U);
}

TEST(Tuner, the_heaviest_problem_is_raced_first_and_answers_keep_the_order_of_the_tasks) {
  Bench b;
  const auto answers = b.choose(3).value();
  EXPECT_THAT(b.raced, ::testing::ElementsAre(kConv, kSmall));
  EXPECT_EQ(answers[0].problem, kSmall);
  EXPECT_EQ(answers[1].problem, kConv);
  EXPECT_NE(answers[1].chosen, "gemm");
  EXPECT_EQ(answers[1].timed.front().tactic, answers[1].chosen) << "the fastest first";
  EXPECT_EQ(answers[1].reason, "it was told to");
}

TEST(Tuner, a_second_build_with_the_cache_times_nothing_and_answers_the_same) {
  Bench b;
  const auto first = b.choose(3).value();
  b.raced.clear();
  const auto second = b.choose(3).value();
  EXPECT_THAT(b.raced, SizeIs(0));
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(second[i].chosen, first[i].chosen);
    EXPECT_TRUE(second[i].from_cache);
  }
  b.choose(4).value();
  EXPECT_THAT(b.raced, SizeIs(2)) << "a higher level tries more";
}

TEST(Tuner, what_the_time_does_not_suffice_for_keeps_the_rules_way_now_and_with_the_cache) {
  Bench b;
  b.race_ns = kLevels[3].total_ns;
  const auto answers = b.choose(3).value();
  EXPECT_THAT(b.raced, SizeIs(1));
  EXPECT_EQ(answers[0].chosen, "gemm");
  EXPECT_EQ(answers[0].reason, "the time of level 3 was used up");
  b.race_ns = 0;
  EXPECT_EQ(b.choose(3).value()[0].chosen, "gemm") << "two builds with one cache are the same";
}

TEST(Tuner, a_problem_gets_time_by_its_share_of_the_work) {
  Bench b;
  b.choose(3).value();
  ASSERT_THAT(b.budgets, SizeIs(2));
  EXPECT_LE(b.budgets[0], kLevels[3].problem_ns);
  EXPECT_GE(b.budgets[1], 10'000'000);
}

TEST(Tuner, stopping_is_an_error) {
  Bench b;
  EXPECT_EQ(b.choose(3, [] { return true; }).status().code(), StatusCode::kCancelled);
}

TEST(Tuner, a_problem_with_one_way_is_not_raced) {
  Bench b;
  b.tasks = {{"conv f32 n=1 h=8 w=8 c=4 o=8 y=4x4 k=2x2 s=2x2 d=1x1 p=0x0 g=2", "gemm", 1}};
  EXPECT_EQ(b.choose(1).value()[0].reason, "there is one way");
  EXPECT_THAT(b.raced, SizeIs(0));
}

TEST(Tuner, a_real_race_times_every_candidate) {
  ThreadPool pool({.threads = 2});
  const SystemClock clock;
  const kernels::IsaKernels& kernels = kernels::isa_kernels(best_isa(read_cpu_info()).value());
  for (std::string_view text :
       {std::string_view("gemm f32|bf16 m=20 n=48 k=33"),
        std::string_view("conv f32|bf16 n=2 h=12 w=13 c=17 o=20 y=12x13 k=3x3 s=1x1 d=1x1 p=1x1 g=1"),
        std::string_view("conv f32 n=1 h=9 w=9 c=32 o=32 y=5x5 k=3x3 s=2x2 d=1x1 p=1x1 g=32")}) {
    const kernels::Problem problem = kernels::parse_problem(text).value();
    const std::vector<Candidate> list =
        candidates({.problem = problem, .rule = {}, .workers = pool.size()}, kLevels[kMostLevel]);
    for (int64_t cold : {0, 1 << 20}) {
      const auto result = race_on(kernels, pool, cold, clock)(problem, list, {.budget_ns = 1, .batch_ns = 1});
      ASSERT_TRUE(result.is_ok()) << result.status().message();
      ASSERT_THAT(result->racers, SizeIs(list.size()));
      for (const Racer& r : result->racers) EXPECT_GT(r.best_ns, 0);
    }
  }
}

TEST(Tuner, a_problem_too_large_to_time_keeps_the_rules_way) {
  ThreadPool pool({.threads = 1});
  const SystemClock clock;
  TimingCache cache;
  const std::vector<Task> tasks = {{"gemm f32 m=1000000 n=1000000 k=1000", "gemm", 1}};
  const kernels::IsaKernels& kernels = kernels::isa_kernels(Isa::baseline);
  const auto answers =
      choose({.tasks = tasks, .level = 3, .device = kHere}, race_on(kernels, pool, 0, clock), clock, cache).value();
  EXPECT_EQ(answers[0].chosen, "gemm");
  EXPECT_THAT(answers[0].reason, HasSubstr("MiB"));
}

}  // namespace
}  // namespace nereid::tune
