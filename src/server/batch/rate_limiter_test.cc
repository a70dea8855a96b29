// SPDX-License-Identifier: Apache-2.0
#include "server/batch/rate_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace nereid::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LimitedInstance taking(std::string name, uint32_t count, uint32_t priority = 1, bool is_global = false) {
  return {
      .takes = {{.name = std::move(name), .is_global = is_global, .count = count}}, .device = 0, .priority = priority};
}

uint64_t add(RateLimiter& limiter, LimitedInstance one) {
  const Result<uint64_t> made = limiter.add(std::move(one));
  EXPECT_TRUE(made.is_ok()) << made.status().message();
  return *made;
}

TEST(RateLimiter, instances_without_resources_always_run) {
  RateLimiter limiter({});
  const uint64_t a = add(limiter, {}), b = add(limiter, {});
  limiter.ask(a);
  limiter.ask(b);
  EXPECT_THAT(limiter.grant(), ElementsAre(a, b));
}

TEST(RateLimiter, of_a_resource_there_is_as_much_as_the_greediest_takes) {
  RateLimiter limiter({});
  const uint64_t small = add(limiter, taking("r", 1)), large = add(limiter, taking("r", 2));
  limiter.ask(small);
  EXPECT_THAT(limiter.grant(), ElementsAre(small));
  limiter.ask(large);
  EXPECT_THAT(limiter.grant(), IsEmpty());
  limiter.done(small);
  EXPECT_THAT(limiter.grant(), ElementsAre(large));
}

TEST(RateLimiter, less_than_an_instance_takes_is_an_error_that_says_how_much_it_takes) {
  RateLimiter limiter({{.name = "r", .count = 3}});
  const auto made = limiter.add(taking("r", 4));
  ASSERT_FALSE(made.is_ok());
  EXPECT_THAT(made.status().message(), HasSubstr("the minimum required count is 4"));
}

TEST(RateLimiter, a_resource_is_of_a_device_or_of_all_but_not_both) {
  RateLimiter limiter({});
  add(limiter, taking("r", 1));
  EXPECT_FALSE(limiter.add(taking("r", 1, 1, true)).is_ok());
}

TEST(RateLimiter, devices_have_their_own_unless_the_resource_is_shared) {
  RateLimiter limiter({});
  LimitedInstance other = taking("r", 1);
  other.device = 1;
  const uint64_t a = add(limiter, taking("r", 1)), b = add(limiter, other);
  LimitedInstance shared_there = taking("s", 1, 1, true);
  shared_there.device = 1;
  const uint64_t c = add(limiter, taking("s", 1, 1, true)), d = add(limiter, shared_there);
  for (const uint64_t one : {a, b, c, d}) limiter.ask(one);
  EXPECT_THAT(limiter.grant(), ElementsAre(a, b, c));
  limiter.done(c);
  EXPECT_THAT(limiter.grant(), ElementsAre(d));
}

TEST(RateLimiter, priority_two_runs_half_as_often_as_one) {
  RateLimiter limiter({{.name = "r", .count = 1}});
  const uint64_t one = add(limiter, taking("r", 1, 1)), two = add(limiter, taking("r", 1, 2));
  limiter.ask(one);
  limiter.ask(two);
  for (int i = 0; i < 300; ++i)
    for (const uint64_t granted : limiter.grant()) {
      limiter.done(granted);
      limiter.ask(granted);
    }
  EXPECT_NEAR(static_cast<double>(limiter.executions(one)), 200, 2);
  EXPECT_NEAR(static_cast<double>(limiter.executions(two)), 100, 2);
}

TEST(RateLimiter, small_ones_do_not_starve_a_large_one) {
  RateLimiter limiter({{.name = "r", .count = 4}});
  std::vector<uint64_t> small;
  for (int i = 0; i < 4; ++i) small.push_back(add(limiter, taking("r", 1)));
  for (const uint64_t one : small) limiter.ask(one);
  EXPECT_EQ(limiter.grant().size(), 4u);
  const uint64_t large = add(limiter, taking("r", 4));
  limiter.ask(large);
  bool has_run = false;
  for (int i = 0; i < 40 && !has_run; ++i) {
    limiter.done(small[static_cast<size_t>(i % 4)]);
    limiter.ask(small[static_cast<size_t>(i % 4)]);
    const auto granted = limiter.grant();
    has_run = std::find(granted.begin(), granted.end(), large) != granted.end();
    if (i >= 4 && !has_run) FAIL() << "the large one waits on";
  }
  EXPECT_TRUE(has_run);
}

TEST(RateLimiter, what_runs_never_takes_more_than_there_is) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  RateLimiter limiter({{.name = "r", .count = 5}, {.name = "s", .count = 3}});
  std::map<uint64_t, std::pair<uint32_t, uint32_t>> takes;
  for (int i = 0; i < 12; ++i) {
    const uint32_t r = random() % 6, s = random() % 4;
    LimitedInstance one{.takes = {{.name = "r", .count = r}, {.name = "s", .count = s}}, .priority = 1 + i % 3u};
    takes[add(limiter, one)] = {r, s};
  }
  std::set<uint64_t> running, asking;
  uint32_t used_r = 0, used_s = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t one = 1 + random() % 12;
    if (running.contains(one)) {
      limiter.done(one);
      running.erase(one);
      used_r -= takes[one].first, used_s -= takes[one].second;
    } else if (asking.insert(one).second) {
      limiter.ask(one);
    } else if (random() % 4 == 0) {
      limiter.withdraw(one);
      asking.erase(one);
    }
    for (const uint64_t granted : limiter.grant()) {
      EXPECT_EQ(asking.erase(granted), 1u);
      EXPECT_TRUE(running.insert(granted).second);
      used_r += takes[granted].first, used_s += takes[granted].second;
    }
    ASSERT_LE(used_r, 5u);
    ASSERT_LE(used_s, 3u);
    if (running.empty()) {
      ASSERT_TRUE(asking.empty()) << "nothing runs though everything is free";
    }
  }
}

}  // namespace
}  // namespace nereid::server
