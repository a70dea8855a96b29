// SPDX-License-Identifier: Apache-2.0
#include "tune/timing_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/test_dir.h"

namespace nereid::tune {
namespace {

using ::testing::HasSubstr;

const DeviceKey kHere{.machine = "Some CPU; L2 2048 KiB, L3 0 KiB; avx512; kernels 1", .threads = 2};
constexpr std::string_view kConv = "conv f32 n=1 h=56 w=56 c=64 o=64 y=56x56 k=3x3 s=1x1 d=1x1 p=1x1 g=1";

ProblemChoice choice(std::string problem, std::string chosen, int level, std::vector<TimedTactic> timed = {}) {
  return {.problem = std::move(problem),
          .rule = "gemm",
          .chosen = std::move(chosen),
          .timed = std::move(timed),
          .reason = "because",
          .level = level};
}

TEST(TimingCache, what_is_printed_is_read_again) {
  TimingCache cache;
  cache.add(kHere, choice(std::string(kConv), "winograd4 tiles=56", 3,
                          {{"winograd4 tiles=56", 41.25, false}, {"gemm", 88.5, false}, {"winograd2", 150, true}}));
  cache.add(kHere, choice("gemm f32 m=1 n=64 k=64", "gemm panels=4", 5));
  const TimingCache again = TimingCache::parse(cache.print());
  EXPECT_EQ(again.print(), cache.print());
  EXPECT_TRUE(again.warning("c").empty());
  const ProblemChoice* found = again.find(kHere, kConv, 3);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->chosen, "winograd4 tiles=56");
  ASSERT_EQ(found->timed.size(), 3U);
  EXPECT_DOUBLE_EQ(found->timed[0].us, 41.25);
  EXPECT_TRUE(found->timed[2].given_up);
  EXPECT_EQ(found->reason, "because");
}

TEST(TimingCache, the_order_of_adding_leaves_no_trace) {
  TimingCache a, b;
  const ProblemChoice one = choice("gemm f32 m=1 n=64 k=64", "gemm", 3), two = choice(std::string(kConv), "gemm", 3);
  a.add(kHere, one);
  a.add(kHere, two);
  b.add(kHere, two);
  b.add(kHere, one);
  EXPECT_EQ(a.print(), b.print());
}

TEST(TimingCache, an_answer_of_a_lower_level_or_another_machine_is_none) {
  TimingCache cache;
  cache.add(kHere, choice(std::string(kConv), "gemm", 3));
  EXPECT_NE(cache.find(kHere, kConv, 2), nullptr);
  EXPECT_EQ(cache.find(kHere, kConv, 4), nullptr);
  EXPECT_EQ(cache.find({.machine = kHere.machine, .threads = 1}, kConv, 3), nullptr);
  EXPECT_EQ(cache.find({.machine = "Another CPU", .threads = 2}, kConv, 3), nullptr);
  EXPECT_EQ(cache.find(kHere, "gemm f32 m=1 n=64 k=64", 3), nullptr);
}

TEST(TimingCache, merging_keeps_the_higher_level_and_of_equals_the_first) {
  TimingCache ours, theirs;
  ours.add(kHere, choice(std::string(kConv), "gemm", 3));
  theirs.add(kHere, choice(std::string(kConv), "winograd2", 3));
  ours.merge(theirs);
  EXPECT_EQ(ours.find(kHere, kConv, 3)->chosen, "gemm");
  theirs.add(kHere, choice(std::string(kConv), "winograd4", 5));
  ours.merge(theirs);
  EXPECT_EQ(ours.find(kHere, kConv, 3)->chosen, "winograd4");
}

TEST(TimingCache, choices_are_those_of_one_device) {
  TimingCache cache;
  cache.add(kHere, choice(std::string(kConv), "winograd2", 3));
  cache.add({.machine = "Another CPU", .threads = 2}, choice("gemm f32 m=1 n=64 k=64", "gemm", 3));
  const auto choices = cache.choices(kHere);
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices.begin()->second, "winograd2");
}

TEST(TimingCache, lines_that_are_none_are_skipped_with_one_sentence) {
  TimingCache good;
  good.add(kHere, choice(std::string(kConv), "winograd4", 3, {{"winograd4", 41.25, false}}));
  const std::string title = good.print().substr(0, good.print().find('\n') + 1);
  const std::string line = good.print().substr(title.size());
  const auto broken = [&](std::string_view from, std::string_view to) {
    std::string text = line;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::string text = title + line + "hello\n" + broken("h=56", "h=-56") + broken("winograd4", "winograd5") +
                           broken("\t3\t", "\t9\t") + broken("41.25", "nan") + broken("41.25", "-1") +
                           broken("k=3x3", "k=5x5") + broken("\tbecause", "") + broken("because", "be\x01 cause") +
                           broken("n=1 ", "n=99999999999999999999 ") + std::string(100000, 'x') + "\n";
  const TimingCache read = TimingCache::parse(text);
  EXPECT_EQ(read.print(), good.print());
  EXPECT_EQ(read.warning("my.cache"),
            "11 lines of the timing cache my.cache are no answer of this version and were skipped, line 3 first");
}

TEST(TimingCache, an_absent_file_is_empty_and_a_folder_is_a_sentence) {
  const TestDir dir;
  EXPECT_EQ(TimingCache::read(dir.path() + "/none")->size(), 0U);
  const auto folder = TimingCache::read(dir.path());
  ASSERT_FALSE(folder.is_ok());
  EXPECT_THAT(folder.status().message(), HasSubstr("is no file"));
}

}  // namespace
}  // namespace nereid::tune
