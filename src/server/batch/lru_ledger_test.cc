// SPDX-License-Identifier: Apache-2.0
#include "server/batch/lru_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace nereid::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LruLedger, what_was_not_asked_for_the_longest_goes_first) {
  LruLedger ledger(30);
  ledger.insert("a", 10);
  ledger.insert("b", 10);
  ledger.insert("c", 10);
  EXPECT_TRUE(ledger.touch("a"));
  EXPECT_THAT(ledger.insert("d", 15).evicted, ElementsAre("b", "c"));
  EXPECT_TRUE(ledger.touch("a"));
  EXPECT_FALSE(ledger.touch("b"));
  EXPECT_EQ(ledger.bytes(), 25u);
}

TEST(LruLedger, what_is_larger_than_all_the_room_is_not_kept_and_drives_nothing_out) {
  LruLedger ledger(10);
  ledger.insert("a", 10);
  const LruLedger::Insertion large = ledger.insert("b", 11);
  EXPECT_FALSE(large.is_kept);
  EXPECT_THAT(large.evicted, IsEmpty());
  EXPECT_TRUE(ledger.touch("a"));
}

TEST(LruLedger, the_same_name_is_replaced) {
  LruLedger ledger(10);
  ledger.insert("a", 4);
  EXPECT_TRUE(ledger.insert("a", 10).is_kept);
  EXPECT_EQ(ledger.entries(), 1u);
  EXPECT_EQ(ledger.bytes(), 10u);
  const LruLedger::Insertion too_large = ledger.insert("a", 11);
  EXPECT_THAT(too_large.evicted, ElementsAre("a"));
  EXPECT_EQ(ledger.bytes(), 0u);
}

TEST(LruLedger, it_never_holds_more_than_it_may_and_counts_what_it_holds) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  LruLedger ledger(100);
  std::map<std::string, size_t> kept;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = std::to_string(random() % 40);
    if (random() % 3 == 0) {
      EXPECT_EQ(ledger.touch(name), kept.contains(name));
      continue;
    }
    const size_t bytes = random() % 60;
    const LruLedger::Insertion done = ledger.insert(name, bytes);
    kept.erase(name);
    for (const std::string& gone : done.evicted) {
      if (gone != name) {
        EXPECT_EQ(kept.erase(gone), 1u);
      }
    }
    if (done.is_kept) kept[name] = bytes;
    size_t sum = 0;
    for (const auto& [one, size] : kept) sum += size;
    ASSERT_EQ(ledger.bytes(), sum);
    ASSERT_EQ(ledger.entries(), kept.size());
    ASSERT_LE(sum, 100u);
  }
}

}  // namespace
}  // namespace nereid::server
