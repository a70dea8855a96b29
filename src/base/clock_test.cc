// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(Clock, the_systems_clock_only_grows_and_sleeps_long_enough) {
  SystemClock clock;
  const int64_t start = clock.now_ns();
  clock.sleep_until(start + 2'000'000);
  EXPECT_GE(clock.now_ns(), start + 2'000'000);
}

TEST(Clock, a_virtual_clock_moves_only_when_told) {
  VirtualClock clock(5);
  EXPECT_EQ(clock.now_ns(), 5);
  clock.advance(10);
  clock.sleep_until(100);
  EXPECT_EQ(clock.now_ns(), 100);
  clock.sleep_until(50);
  EXPECT_EQ(clock.now_ns(), 100);
}

}  // namespace
}  // namespace nereid
