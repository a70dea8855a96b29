// SPDX-License-Identifier: Apache-2.0
#include "server/batch/sequence_batcher.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace nereid::server
