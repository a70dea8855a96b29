// SPDX-License-Identifier: Apache-2.0
#include "server/batch/dynamic_batcher.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace nereid::server {
namespace {

using Tickets = std::vector<uint64_t>;
constexpr int64_t kUs = 1000;

WaitingRequest request(uint64_t ticket, int64_t items, int64_t arrival_ns = 0) {
  return {.ticket = ticket, .items = items, .shape_key = 0, .priority = 0, .timeout_us = 0, .arrival_ns = arrival_ns};
}

BatcherOptions joining(int64_t max_batch, std::vector<int32_t> preferred = {}, uint64_t delay_us = 0) {
  BatcherOptions options{.max_batch = max_batch, .joins = true, .rules = {}};
  options.rules.preferred_sizes = std::move(preferred);
  options.rules.max_delay_us = delay_us;
  return options;
}

TEST(DynamicBatcher, without_dynamic_batching_every_request_runs_alone) {
  DynamicBatcher batcher({.max_batch = 8, .joins = false, .rules = {}});
  batcher.add(request(1, 2));
  batcher.add(request(2, 2));
  EXPECT_EQ(batcher.next(0, true).run, Tickets{1});
  EXPECT_EQ(batcher.next(0, true).run, Tickets{2});
  EXPECT_TRUE(batcher.next(0, true).run.empty());
}

TEST(DynamicBatcher, without_a_delay_what_is_there_runs_together_up_to_the_largest_batch) {
  DynamicBatcher batcher(joining(8));
  for (uint64_t i = 1; i <= 3; ++i) batcher.add(request(i, 3));
  EXPECT_EQ(batcher.next(0, true).run, (Tickets{1, 2}));
  EXPECT_EQ(batcher.next(0, true).run, Tickets{3});
}

TEST(DynamicBatcher, nothing_runs_while_no_instance_is_free) {
  DynamicBatcher batcher(joining(8));
  batcher.add(request(1, 1));
  EXPECT_TRUE(batcher.next(0, false).run.empty());
  EXPECT_EQ(batcher.size(), 1u);
}

TEST(DynamicBatcher, a_batch_waits_until_its_oldest_request_has_waited_the_delay) {
  DynamicBatcher batcher(joining(8, {4}, 100));
  batcher.add(request(1, 1, 0));
  batcher.add(request(2, 1, 50 * kUs));
  const auto early = batcher.next(99 * kUs, true);
  EXPECT_TRUE(early.run.empty());
  EXPECT_EQ(early.again_ns, 100 * kUs);
  EXPECT_EQ(batcher.next(100 * kUs, true).run, (Tickets{1, 2}));
}

TEST(DynamicBatcher, the_largest_preferred_size_that_is_there_runs_at_once) {
  DynamicBatcher batcher(joining(16, {2, 4}, 100));
  for (uint64_t i = 1; i <= 5; ++i) batcher.add(request(i, 1));
  EXPECT_EQ(batcher.next(0, true).run, (Tickets{1, 2, 3, 4}));
  EXPECT_TRUE(batcher.next(0, true).run.empty());
}

TEST(DynamicBatcher, whether_a_batch_is_due_can_be_asked_without_taking_it) {
  DynamicBatcher batcher(joining(8, {4}, 100));
  int64_t again_ns = DynamicBatcher::kNever;
  EXPECT_FALSE(batcher.is_due(0, &again_ns));
  batcher.add(request(1, 1, 0));
  EXPECT_FALSE(batcher.is_due(99 * kUs, &again_ns));
  EXPECT_EQ(again_ns, 100 * kUs);
  EXPECT_TRUE(batcher.is_due(100 * kUs, &again_ns));
  EXPECT_EQ(batcher.next(100 * kUs, true).run, Tickets{1});
}

TEST(DynamicBatcher, a_full_batch_does_not_wait) {
  DynamicBatcher batcher(joining(4, {}, 1'000'000));
  for (uint64_t i = 1; i <= 2; ++i) batcher.add(request(i, 2));
  EXPECT_EQ(batcher.next(0, true).run, (Tickets{1, 2}));
}

TEST(DynamicBatcher, a_batch_ends_before_another_shape) {
  DynamicBatcher batcher(joining(8));
  batcher.add(request(1, 1));
  WaitingRequest other = request(2, 1);
  other.shape_key = 7;
  batcher.add(other);
  batcher.add(request(3, 1));
  EXPECT_EQ(batcher.next(0, true).run, Tickets{1});
  EXPECT_EQ(batcher.next(0, true).run, Tickets{2});
  EXPECT_EQ(batcher.next(0, true).run, Tickets{3});
}

TEST(DynamicBatcher, the_first_priority_goes_before_the_second_and_others_count_as_the_default) {
  BatcherOptions options = joining(1);
  options.rules.priority_levels = 2;
  options.rules.default_priority = 2;
  DynamicBatcher batcher(options);
  batcher.add(request(1, 1));
  WaitingRequest urgent = request(2, 1);
  urgent.priority = 1;
  WaitingRequest unknown = request(3, 1);
  unknown.priority = 99;
  batcher.add(unknown);
  batcher.add(urgent);
  EXPECT_EQ(batcher.next(0, true).run, Tickets{2});
  EXPECT_EQ(batcher.next(0, true).run, Tickets{1});
  EXPECT_EQ(batcher.next(0, true).run, Tickets{3});
}

TEST(DynamicBatcher, a_full_queue_refuses) {
  BatcherOptions options = joining(1);
  options.rules.default_policy.max_size = 2;
  DynamicBatcher batcher(options);
  EXPECT_TRUE(batcher.add(request(1, 1)));
  EXPECT_TRUE(batcher.add(request(2, 1)));
  EXPECT_FALSE(batcher.add(request(3, 1)));
  batcher.next(0, true);
  EXPECT_TRUE(batcher.add(request(4, 1)));
}

TEST(DynamicBatcher, what_is_late_is_refused_also_while_no_instance_is_free) {
  BatcherOptions options = joining(1);
  options.rules.default_policy.default_timeout_us = 10;
  DynamicBatcher batcher(options);
  batcher.add(request(1, 1, 0));
  EXPECT_EQ(batcher.next(9 * kUs, false).again_ns, 10 * kUs);
  EXPECT_EQ(batcher.next(10 * kUs, false).late, Tickets{1});
  EXPECT_EQ(batcher.size(), 0u);
}

TEST(DynamicBatcher, a_request_may_only_shorten_its_timeout_and_only_where_that_is_allowed) {
  BatcherOptions options = joining(1);
  options.rules.default_policy.default_timeout_us = 10;
  WaitingRequest hasty = request(1, 1), patient = request(2, 1);
  hasty.timeout_us = 5, patient.timeout_us = 100;
  DynamicBatcher fixed(options);
  fixed.add(hasty);
  EXPECT_TRUE(fixed.next(9 * kUs, false).late.empty());
  options.rules.default_policy.may_override_timeout = true;
  DynamicBatcher open(options);
  open.add(hasty);
  open.add(patient);
  EXPECT_EQ(open.next(5 * kUs, false).late, Tickets{1});
  EXPECT_EQ(open.next(10 * kUs, false).late, Tickets{2});
}

TEST(DynamicBatcher, what_is_late_may_be_delayed_behind_the_others_instead) {
  BatcherOptions options = joining(1);
  options.rules.default_policy.default_timeout_us = 10;
  options.rules.default_policy.delays_late = true;
  DynamicBatcher batcher(options);
  batcher.add(request(1, 1, 0));
  batcher.add(request(2, 1, 20 * kUs));
  EXPECT_EQ(batcher.next(20 * kUs, true).run, Tickets{2});
  EXPECT_EQ(batcher.next(20 * kUs, true).run, Tickets{1});
}

TEST(DynamicBatcher, every_request_leaves_exactly_once_whatever_happens) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    BatcherOptions options = joining(1 + below(8), {1 + below(8)}, static_cast<uint64_t>(below(3)) * 10);
    options.joins = below(4) != 0;
    options.rules.priority_levels = static_cast<uint64_t>(below(3));
    options.rules.default_priority = 1;
    options.rules.default_policy.default_timeout_us = static_cast<uint64_t>(below(2)) * 30;
    options.rules.default_policy.delays_late = below(2) == 0;
    DynamicBatcher batcher(options);
    std::set<uint64_t> waiting;
    int64_t now_ns = 0;
    const auto leave = [&](uint64_t ticket) { EXPECT_EQ(waiting.erase(ticket), 1u); };
    for (uint64_t ticket = 1; ticket < 300; ++ticket) {
      now_ns += below(20) * kUs;
      WaitingRequest one = request(ticket, 1 + below(static_cast<int>(options.max_batch)), now_ns);
      one.shape_key = static_cast<uint64_t>(below(2));
      one.priority = static_cast<uint64_t>(below(4));
      ASSERT_TRUE(batcher.add(one));
      waiting.insert(ticket);
      if (below(20) == 0 && !waiting.empty() && batcher.remove(*waiting.begin())) leave(*waiting.begin());
      if (below(2) == 0) {
        const auto decision = batcher.next(now_ns, below(2) == 0);
        for (const uint64_t gone : decision.run) leave(gone);
        for (const uint64_t gone : decision.late) leave(gone);
      }
      ASSERT_EQ(batcher.size(), waiting.size());
    }
    now_ns += 1'000'000 * kUs;
    while (batcher.size() > 0) {
      const auto decision = batcher.next(now_ns, true);
      ASSERT_FALSE(decision.run.empty() && decision.late.empty());
      for (const uint64_t gone : decision.run) leave(gone);
      for (const uint64_t gone : decision.late) leave(gone);
    }
    EXPECT_TRUE(waiting.empty());
  }
}

}  // namespace
}  // namespace nereid::server
