// SPDX-License-Identifier: Apache-2.0
#include "server/batch/release_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace nereid::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReleaseOrder, an_answer_that_is_early_waits_for_those_before_it) {
  ReleaseOrder order;
  for (uint64_t i = 1; i <= 3; ++i) order.add(i);
  EXPECT_TRUE(order.is_turn(1));
  EXPECT_FALSE(order.is_turn(2));
  EXPECT_THAT(order.end(3), IsEmpty());
  EXPECT_THAT(order.end(2), IsEmpty());
  EXPECT_THAT(order.end(1), ElementsAre(2, 3));
  EXPECT_EQ(order.size(), 0u);
}

TEST(ReleaseOrder, who_is_next_may_still_be_at_work) {
  ReleaseOrder order;
  order.add(1);
  order.add(2);
  EXPECT_THAT(order.end(1), ElementsAre(2));
  EXPECT_TRUE(order.is_turn(2));
  EXPECT_THAT(order.end(2), IsEmpty());
}

TEST(ReleaseOrder, whatever_ends_first_all_leave_in_the_order_they_came) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    ReleaseOrder order;
    std::vector<uint64_t> running, left;
    uint64_t last = 0;
    std::unordered_set<uint64_t> held;
    while (last < 60 || !running.empty()) {
      if (last < 60 && (running.empty() || random() % 2 == 0)) {
        order.add(++last);
        running.push_back(last);
        continue;
      }
      const auto at = running.begin() + static_cast<int64_t>(random() % running.size());
      const uint64_t one = *at;
      running.erase(at);
      order.is_turn(one) ? left.push_back(one) : static_cast<void>(held.insert(one));
      for (const uint64_t next : order.end(one))
        if (held.erase(next) == 1) left.push_back(next);
    }
    EXPECT_TRUE(std::is_sorted(left.begin(), left.end()));
    EXPECT_EQ(left.size(), 60u);
    EXPECT_EQ(order.size(), 0u);
  }
}

}  // namespace
}  // namespace nereid::server
