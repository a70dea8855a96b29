// SPDX-License-Identifier: Apache-2.0
#include "cli/rest_watch.h"

#include <gtest/gtest.h>

namespace nereid::cli {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(RestWatch, tells_once_when_work_has_been_over_for_a_while) {
  RestWatch watch;
  int64_t cpu = 0;
  int told = 0, told_at = 0;
  for (int second = 1; second <= 40; ++second) {
    if (second > 5 && second <= 15) cpu += kSecond;
    if (!watch.has_come_to_rest(second * kSecond, cpu)) continue;
    ++told;
    told_at = second;
  }
  EXPECT_EQ(told, 1);
  EXPECT_GE(told_at, 18);
  EXPECT_LE(told_at, 22);
}

TEST(RestWatch, says_nothing_where_nothing_was_done_and_nothing_while_much_is) {
  RestWatch idle, busy;
  for (int64_t second = 1; second < 60; ++second) {
    EXPECT_FALSE(idle.has_come_to_rest(second * kSecond, 0));
    EXPECT_FALSE(busy.has_come_to_rest(second * kSecond, second * kSecond));
  }
}

}  // namespace
}  // namespace nereid::cli
