// SPDX-License-Identifier: Apache-2.0
#include "server/batch/sequence_batcher.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace nereid::server {
namespace {

SequenceRequest part(uint64_t ticket, std::string sequence, bool is_start = false, bool is_end = false) {
  return {.ticket = ticket, .sequence = std::move(sequence), .is_start = is_start, .is_end = is_end, .arrival_ns = 0};
}

std::vector<uint64_t> tickets(const std::vector<SequenceBatcher::Step>& steps) {
  std::vector<uint64_t> out;
  for (const auto& step : steps) out.push_back(step.ticket);
  return out;
}

TEST(SequenceBatcher, a_sequence_must_begin_with_a_start) {
  SequenceBatcher batcher({.instances = 1, .slots = 4});
  EXPECT_FALSE(batcher.add(part(1, "a")));
  EXPECT_TRUE(batcher.add(part(2, "a", true)));
  EXPECT_TRUE(batcher.add(part(3, "a")));
}

TEST(SequenceBatcher, requests_of_one_sequence_run_one_after_the_other_and_of_several_together) {
  SequenceBatcher batcher({.instances = 1, .slots = 4});
  batcher.add(part(1, "a", true));
  batcher.add(part(2, "a"));
  batcher.add(part(3, "b", true));
  const auto first = batcher.next(0, 0);
  EXPECT_EQ(tickets(first), (std::vector<uint64_t>{1, 3}));
  EXPECT_TRUE(batcher.next(0, 0).empty());
  batcher.done(0, first, 0);
  EXPECT_EQ(tickets(batcher.next(0, 0)), std::vector<uint64_t>{2});
}

TEST(SequenceBatcher, a_sequence_stays_with_its_instance) {
  SequenceBatcher batcher({.instances = 2, .slots = 1});
  batcher.add(part(1, "a", true));
  batcher.add(part(2, "b", true));
  const auto on_first = batcher.next(0, 0), on_second = batcher.next(1, 0);
  ASSERT_EQ(on_first.size(), 1u);
  ASSERT_EQ(on_second.size(), 1u);
  batcher.done(0, on_first, 0);
  batcher.done(1, on_second, 0);
  batcher.add(part(3, "a"));
  EXPECT_TRUE(batcher.next(1, 0).empty());
  EXPECT_EQ(tickets(batcher.next(0, 0)), std::vector<uint64_t>{3});
}

TEST(SequenceBatcher, without_a_free_slot_a_sequence_waits_until_one_ends) {
  SequenceBatcher batcher({.instances = 1, .slots = 1});
  batcher.add(part(1, "a", true));
  batcher.add(part(2, "b", true, true));
  auto steps = batcher.next(0, 0);
  EXPECT_EQ(tickets(steps), std::vector<uint64_t>{1});
  batcher.done(0, steps, 0);
  EXPECT_TRUE(batcher.next(0, 0).empty());
  batcher.add(part(3, "a", false, true));
  steps = batcher.next(0, 0);
  batcher.done(0, steps, 0);
  EXPECT_EQ(tickets(batcher.next(0, 0)), std::vector<uint64_t>{2});
}

TEST(SequenceBatcher, after_its_end_a_sequence_is_unknown) {
  SequenceBatcher batcher({.instances = 1, .slots = 1});
  batcher.add(part(1, "a", true, true));
  EXPECT_FALSE(batcher.add(part(2, "a")));
  batcher.done(0, batcher.next(0, 0), 0);
  EXPECT_EQ(batcher.living(), 0u);
  EXPECT_FALSE(batcher.add(part(3, "a")));
}

TEST(SequenceBatcher, an_idle_sequence_loses_its_slot_to_one_that_waits) {
  SequenceBatcher batcher({.instances = 1, .slots = 1, .max_idle_ns = 100});
  batcher.add(part(1, "a", true));
  batcher.done(0, batcher.next(0, 10), 10);
  batcher.add(part(2, "b", true));
  EXPECT_EQ(batcher.again_ns(), 110);
  batcher.reap(109);
  EXPECT_TRUE(batcher.next(0, 109).empty());
  batcher.reap(110);
  EXPECT_EQ(tickets(batcher.next(0, 110)), std::vector<uint64_t>{2});
  EXPECT_FALSE(batcher.add(part(3, "a")));
}

SequenceRequest timed(uint64_t ticket, std::string sequence, int64_t arrival_ns, int64_t timeout_ns,
                      bool is_start = true) {
  SequenceRequest one = part(ticket, std::move(sequence), is_start);
  one.arrival_ns = arrival_ns, one.timeout_ns = timeout_ns;
  return one;
}

TEST(SequenceBatcher, a_request_that_waits_for_a_slot_too_long_is_refused_and_takes_its_sequence_along) {
  SequenceBatcher batcher({.instances = 1, .slots = 1, .max_idle_ns = 1'000'000});
  batcher.add(part(1, "a", true));
  const auto running = batcher.next(0, 0);
  batcher.add(timed(2, "b", 0, 50));
  batcher.add(timed(3, "b", 10, 0, false));
  batcher.add(timed(4, "c", 20, 500));
  EXPECT_EQ(batcher.again_ns(), 50);
  EXPECT_TRUE(batcher.reap(49).empty());
  EXPECT_EQ(batcher.reap(50), (std::vector<uint64_t>{2, 3}));
  EXPECT_FALSE(batcher.add(part(5, "b")));
  batcher.done(0, running, 60);
  batcher.drop("a");
  EXPECT_EQ(tickets(batcher.next(0, 60)), std::vector<uint64_t>{4});
}

TEST(SequenceBatcher, one_with_a_slot_is_never_late) {
  SequenceBatcher batcher({.instances = 1, .slots = 1, .max_idle_ns = 1'000'000});
  batcher.add(timed(1, "a", 0, 50));
  EXPECT_TRUE(batcher.reap(1000).empty());
  EXPECT_EQ(tickets(batcher.next(0, 1000)), std::vector<uint64_t>{1});
}

TEST(SequenceBatcher, requests_wait_for_company_until_enough_slots_have_one_or_the_delay_is_over) {
  SequenceBatcher batcher({.instances = 1, .slots = 4, .max_idle_ns = 1'000'000, .max_delay_ns = 100, .enough = 2});
  batcher.add(timed(1, "a", 0, 0));
  EXPECT_TRUE(batcher.next(0, 99).empty());
  EXPECT_EQ(batcher.again_ns(), 100);
  batcher.add(timed(2, "b", 99, 0));
  EXPECT_EQ(tickets(batcher.next(0, 99)), (std::vector<uint64_t>{1, 2}));
  batcher.add(timed(3, "c", 200, 0));
  EXPECT_TRUE(batcher.next(0, 299).empty());
  EXPECT_EQ(tickets(batcher.next(0, 300)), std::vector<uint64_t>{3});
}

TEST(SequenceBatcher, more_sequences_live_than_run_together_and_the_oldest_requests_go_first) {
  SequenceBatcher batcher({.instances = 1, .slots = 4, .max_batch = 2});
  batcher.add(timed(1, "a", 30, 0));
  batcher.add(timed(2, "b", 10, 0));
  batcher.add(timed(3, "c", 20, 0));
  EXPECT_EQ(tickets(batcher.next(0, 40)), (std::vector<uint64_t>{2, 3}));
}

TEST(SequenceBatcher, a_preferred_size_runs_at_once) {
  SequenceBatcher batcher({.instances = 1, .slots = 8, .max_batch = 4, .max_delay_ns = 100, .preferred_sizes = {2}});
  for (uint64_t i = 1; i <= 3; ++i) batcher.add(timed(i, std::to_string(i), 0, 0));
  EXPECT_EQ(tickets(batcher.next(0, 0)), (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(batcher.next(0, 0).empty());
}

TEST(SequenceBatcher, other_shapes_run_in_a_batch_of_their_own) {
  SequenceBatcher batcher({.instances = 1, .slots = 4});
  batcher.add(part(1, "a", true));
  SequenceRequest other = part(2, "b", true);
  other.shape_key = 7;
  batcher.add(other);
  batcher.add(part(3, "c", true));
  EXPECT_EQ(tickets(batcher.next(0, 0)), (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(tickets(batcher.next(0, 0)), std::vector<uint64_t>{2});
}

TEST(SequenceBatcher, a_request_may_run_again_before_what_came_later_and_keeps_its_slot_until_it_is_done) {
  SequenceBatcher batcher({.instances = 1, .slots = 1});
  batcher.add(part(1, "a", true, true));
  batcher.add(part(2, "b", true, true));
  auto steps = batcher.next(0, 0);
  EXPECT_TRUE(steps[0].is_start);
  for (int i = 0; i < 3; ++i) {
    steps[0].is_again = true;
    batcher.done(0, steps, 0);
    steps = batcher.next(0, 0);
    ASSERT_EQ(tickets(steps), std::vector<uint64_t>{1});
    EXPECT_FALSE(steps[0].is_start);
  }
  batcher.done(0, steps, 0);
  EXPECT_EQ(batcher.take_ended(), std::vector<std::string>{"a"});
  EXPECT_TRUE(batcher.take_ended().empty());
  EXPECT_EQ(tickets(batcher.next(0, 0)), std::vector<uint64_t>{2});
}

TEST(SequenceBatcher, a_sequence_that_is_dropped_while_it_runs_ends_with_that) {
  SequenceBatcher batcher({.instances = 1, .slots = 1});
  batcher.add(part(1, "a", true));
  const auto steps = batcher.next(0, 0);
  batcher.add(part(2, "a"));
  EXPECT_EQ(batcher.drop("a"), std::vector<uint64_t>{2});
  EXPECT_EQ(batcher.living(), 1u);
  batcher.done(0, steps, 0);
  EXPECT_EQ(batcher.living(), 0u);
  EXPECT_FALSE(batcher.add(part(3, "a")));
}

TEST(SequenceBatcher, every_request_leaves_exactly_once_and_no_sequence_runs_twice_at_a_time) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    const int instances = 1 + below(3);
    SequenceBatcher batcher({.instances = instances,
                             .slots = 1 + below(3),
                             .max_batch = below(3),
                             .max_idle_ns = 50,
                             .max_delay_ns = below(2) * 20,
                             .enough = below(3)});
    std::set<uint64_t> waiting;
    std::map<int, std::vector<SequenceBatcher::Step>> running;
    std::map<std::string, int> at_work;
    std::map<std::string, uint64_t> last_run;
    int64_t now_ns = 0;
    uint64_t last = 0;
    for (int i = 0; i < 400; ++i) {
      now_ns += below(10);
      SequenceRequest one = part(++last, std::to_string(below(8)), below(3) == 0, below(4) == 0);
      one.arrival_ns = now_ns, one.timeout_ns = below(3) * 40, one.shape_key = static_cast<uint64_t>(below(2));
      if (batcher.add(one)) waiting.insert(last);
      const int instance = below(instances);
      if (running[instance].empty()) {
        running[instance] = batcher.next(instance, now_ns);
        for (const auto& step : running[instance]) {
          EXPECT_EQ(waiting.erase(step.ticket), 1u);
          EXPECT_EQ(++at_work[step.sequence], 1);
          EXPECT_LE(last_run[step.sequence], step.ticket) << "out of order";
          last_run[step.sequence] = step.ticket;
        }
      } else {
        for (auto& step : running[instance]) {
          --at_work[step.sequence];
          step.is_again = below(4) == 0;
          if (step.is_again) waiting.insert(step.ticket);
        }
        batcher.done(instance, running[instance], now_ns);
        running[instance].clear();
      }
      for (const uint64_t late : batcher.reap(now_ns)) EXPECT_EQ(waiting.erase(late), 1u);
      const std::string unlucky = below(20) == 0 ? std::to_string(below(8)) : "none";
      for (const uint64_t dropped : batcher.drop(unlucky)) EXPECT_EQ(waiting.erase(dropped), 1u);
      ASSERT_EQ(batcher.waiting(), waiting.size());
    }
  }
}

TEST(SequenceBatcher, slots_that_nobody_takes_cost_nothing) {
  // 100,000 sequences through 2^30 slots: where each looked at all slots, this would take days.
  SequenceBatcher batcher({.instances = 2, .slots = 1 << 30});
  for (uint64_t i = 1; i <= 100'000; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(batcher.add({.ticket = i, .sequence = name, .is_start = true, .is_end = true, .arrival_ns = 1}));
    const int instance = 0;  // both are empty: the first has as many free slots as the other
    const auto steps = batcher.next(instance, 1);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].slot, 0);
    batcher.done(instance, steps, 1);
  }
  EXPECT_EQ(batcher.living(), 0u);
}

}  // namespace
}  // namespace nereid::server
