// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/fair_share.h"

#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

TEST(FairShare, a_rest_saves_nothing_up) {
  FairShare shares;
  const int32_t rested = shares.join("rested");
  shares.charge(rested, 10);
  const int32_t busy = shares.join("busy");
  shares.leave(rested);
  shares.charge(busy, 5000);
  EXPECT_EQ(shares.served(shares.join("rested")), 5010);
  EXPECT_EQ(shares.served(shares.join("new")), 5010);
}

TEST(FairShare, a_short_absence_forgives_nothing) {
  FairShare shares;
  const int32_t heavy = shares.join("heavy");
  const int32_t light = shares.join("light");
  shares.charge(heavy, 5000);
  shares.charge(light, 100);
  shares.leave(heavy);
  EXPECT_EQ(shares.served(shares.join("heavy")), 5000);
}

TEST(FairShare, who_comes_when_nobody_is_there_begins_where_the_last_one_stood) {
  FairShare shares;
  const int32_t a = shares.join("a");
  shares.charge(a, 300);
  shares.leave(a);
  EXPECT_EQ(shares.served(shares.join("b")), 300);
}

TEST(FairShare, users_who_are_gone_for_long_are_forgotten) {
  FairShare shares;
  for (int i = 0; i < 100'000; ++i) {
    const int32_t user = shares.join("user " + std::to_string(i));
    shares.charge(user, 10);
    shares.leave(user);
  }
  EXPECT_LT(shares.known(), 1000U);
}

}  // namespace
}  // namespace nereid::schedule
