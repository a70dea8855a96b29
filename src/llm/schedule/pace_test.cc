// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/pace.h"

#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

TEST(Pace, as_long_as_nothing_is_known_the_most_is_allowed) {
  Pace pace(2.5);
  EXPECT_EQ(pace.prompt_tokens(4, 0, 16, 128), 128);
  pace.learn(4, 0, 6000);
  EXPECT_EQ(pace.prompt_tokens(4, 0, 16, 128), 128);
}

TEST(Pace, a_step_with_prompts_stays_within_its_stretch) {
  Pace pace(2.5);
  for (int i = 0; i < 50; ++i) {
    pace.learn(4, 0, 6000);
    pace.learn(4, 32, 6000 + 32 * 250);
  }
  EXPECT_NEAR(pace.prompt_tokens(4, 0, 16, 128), 36, 1);  // 1.5 * 6000 / 250
  EXPECT_EQ(pace.prompt_tokens(4, 0, 48, 128), 48);
  EXPECT_EQ(pace.prompt_tokens(4, 0, 16, 20), 20);
}

TEST(Pace, more_is_borne_the_longer_others_wait_behind) {
  Pace pace(2);
  pace.learn(4, 0, 6000);
  pace.learn(4, 60, 12'000);
  EXPECT_EQ(pace.prompt_tokens(4, 0, 16, 128), 60);
  EXPECT_EQ(pace.prompt_tokens(4, 125'000, 16, 128), 120);
  EXPECT_EQ(pace.prompt_tokens(4, 250'000, 16, 128), 128);
}

TEST(Pace, now_and_then_a_step_without_prompts_tells_what_one_takes) {
  Pace pace(2);
  pace.learn(4, 0, 6000);
  pace.learn(4, 60, 12'000);
  int without = 0;
  for (int i = 0; i < 1000; ++i) {
    const int32_t tokens = pace.prompt_tokens(4, 0, 16, 1000);
    without += tokens == 0;
    pace.learn(4, tokens, 20'000 + tokens * 100);  // it takes longer than it did
  }
  EXPECT_NEAR(without, 30, 2);
  EXPECT_NEAR(pace.prompt_tokens(4, 0, 16, 1000), 200, 5);
}

TEST(Pace, a_pause_of_the_machine_is_soon_forgotten) {
  Pace pace(2);
  for (int i = 0; i < 50; ++i) {
    pace.learn(1, 0, 5000);
    pace.learn(0, 100, 10'000);
  }
  ASSERT_NEAR(pace.prompt_tokens(1, 0, 1, 1000), 50, 1);
  pace.learn(1, 0, 60'000'000);
  EXPECT_LT(pace.prompt_tokens(1, 0, 1, 1000), 100);
  for (int i = 0; i < 20; ++i) pace.learn(1, 0, 5000);
  EXPECT_NEAR(pace.prompt_tokens(1, 0, 1, 1000), 50, 2);
}

TEST(Pace, what_is_not_known_of_a_batch_is_taken_from_a_smaller_one) {
  Pace pace(3);
  pace.learn(0, 100, 10'000);
  pace.learn(64, 0, 40'000);
  EXPECT_EQ(pace.prompt_tokens(1, 0, 1, 10'000), 800);
  pace.learn(2, 0, 5000);
  EXPECT_EQ(pace.prompt_tokens(8, 0, 1, 10'000), 100);
  EXPECT_EQ(pace.prompt_tokens(70, 0, 1, 10'000), 800);
}

}  // namespace
}  // namespace nereid::schedule
