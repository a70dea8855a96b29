// SPDX-License-Identifier: Apache-2.0
#include "llm/kv/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace nereid::kv {
namespace {

std::vector<int32_t> tokens(int32_t count, int32_t first = 0) {
  std::vector<int32_t> t(static_cast<size_t>(count));
  std::iota(t.begin(), t.end(), first);
  return t;
}

std::vector<int32_t> joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class CacheTest : public testing::Test {
 protected:
  void make(const CacheOptions& o) { cache_ = *Cache::make(o); }
  // A sequence of these tokens, all computed.
  SequenceId computed(const std::vector<int32_t>& t, std::string_view key = "", Retention retention = {}) {
    const Opened opened = *cache_->open({.key = key, .tokens = t, .retention = retention});
    const Status s = cache_->append(opened.sequence, std::span(t).subspan(static_cast<size_t>(opened.reused_tokens)));
    EXPECT_TRUE(s.is_ok()) << s.message();
    cache_->commit(opened.sequence);
    return opened.sequence;
  }
  void leave(const std::vector<int32_t>& t, std::string_view key = "", Retention retention = {}) {
    cache_->close(computed(t, key, retention));
  }
  int32_t found(const std::vector<int32_t>& t, std::string_view key = "") {
    return cache_->match({.key = key, .tokens = t}).tokens;
  }
  void TearDown() override {
    if (cache_) {
      EXPECT_EQ(cache_->audit().message(), "");
    }
  }

  std::unique_ptr<Cache> cache_;
};

TEST_F(CacheTest, whole_pages_are_shared_and_the_beginning_of_one_is_copied) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4});
  const SequenceId a = computed(tokens(10));
  // Two pages are the same, of the third (not whole, so not in the tree yet) nothing is found.
  const std::vector<int32_t> other = joined(tokens(9), {77, 78});
  EXPECT_EQ(found(other), 8);
  cache_->close(a);
  EXPECT_EQ(found(other), 9);
  cache_->clear_moves();
  const Opened b = *cache_->open({.tokens = other});
  EXPECT_EQ(b.reused_tokens, 9);
  ASSERT_EQ(cache_->moves().size(), 1U);
  EXPECT_EQ(cache_->moves()[0].kind, MoveKind::kCopy);
  EXPECT_EQ(cache_->moves()[0].tokens, 1);
  EXPECT_EQ(cache_->moves()[0].dst, cache_->table(b.sequence)[2]);
  EXPECT_EQ(cache_->counts().used, 3);
}

TEST_F(CacheTest, the_last_token_is_left_to_be_computed) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4});
  leave(tokens(8));
  EXPECT_EQ(found(tokens(8)), 7);
  EXPECT_EQ(cache_->match({.tokens = tokens(8), .max_reuse = 8}).tokens, 8);
  EXPECT_EQ(cache_->match({.tokens = tokens(8), .max_reuse = 0}).tokens, 0);
  EXPECT_EQ(found({}), 0);
}

TEST_F(CacheTest, different_keys_never_share) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4});
  leave(tokens(9), "adapter");
  EXPECT_EQ(found(tokens(9), ""), 0);
  EXPECT_EQ(found(tokens(9), "adapter"), 8);
  cache_->forget("adapter");
  EXPECT_EQ(found(tokens(9), "adapter"), 0);
  EXPECT_EQ(cache_->counts().free, 10);
}

TEST_F(CacheTest, an_unfinished_page_goes_when_a_longer_one_holds_the_same) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4});
  leave(tokens(5));
  EXPECT_EQ(cache_->counts().cached, 2);
  leave(tokens(7));
  EXPECT_EQ(cache_->counts().cached, 2);
  leave(tokens(6));
  EXPECT_EQ(cache_->counts().cached, 2);
  leave(tokens(8));
  EXPECT_EQ(cache_->counts().cached, 2);
  EXPECT_EQ(found(tokens(9)), 8);
}

TEST_F(CacheTest, two_who_compute_the_same_end_up_with_one_page) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4});
  const SequenceId a = cache_->open({.tokens = tokens(8)})->sequence;
  const SequenceId b = cache_->open({.tokens = tokens(8)})->sequence;
  for (SequenceId s : {a, b}) ASSERT_TRUE(cache_->append(s, tokens(8)).is_ok());
  EXPECT_EQ(cache_->counts().used, 4);
  for (SequenceId s : {a, b}) EXPECT_EQ(cache_->take_change(s), 0);
  cache_->commit(a);
  cache_->commit(b);
  EXPECT_EQ(cache_->counts().used, 2);
  EXPECT_EQ(cache_->counts().merged_pages, 2);
  EXPECT_TRUE(std::ranges::equal(cache_->table(a), cache_->table(b)));
  EXPECT_EQ(cache_->take_change(a), 2) << "nothing has changed for the first";
  EXPECT_EQ(cache_->take_change(b), 0);
}

TEST_F(CacheTest, leaves_go_first_and_of_those_the_one_used_longest_ago) {
  make({.pages = 5, .page_tokens = 4, .sequences = 4});
  const std::vector<int32_t> stem = tokens(4), one = joined(stem, tokens(4, 100)), two = joined(stem, tokens(4, 200));
  leave(joined(one, {1}));
  leave(joined(two, {2}));
  EXPECT_EQ(cache_->counts().free, 0);
  // Another needs two pages: what stood behind the first and its unfinished page go.
  cache_->close(computed(tokens(8, 1000)));
  EXPECT_EQ(found(joined(one, {1, 1})), 4);
  EXPECT_EQ(found(joined(two, {2, 2})), 9);
}

TEST_F(CacheTest, pages_of_a_lower_priority_go_first_until_their_retention_ends) {
  make({.pages = 4, .page_tokens = 4, .sequences = 4});
  const std::vector<int32_t> dear = tokens(4, 100), usual = tokens(4, 200), later = tokens(4, 300);
  cache_->set_time(1000);
  leave(dear, "", {.priority = 90, .until_us = 2000});
  leave(usual);
  leave(later);
  leave(tokens(8, 400));  // one is free, one has to go
  EXPECT_EQ(found(joined(dear, {0})), 4) << "older, but dearer";
  EXPECT_EQ(found(joined(usual, {0})), 0);
  cache_->set_time(2000);
  leave(tokens(4, 500));
  EXPECT_EQ(found(joined(dear, {0})), 0) << "its time is over, and it is the oldest";
  EXPECT_EQ(found(joined(later, {0})), 4);
}

TEST_F(CacheTest, a_use_of_less_priority_does_not_take_from_what_another_wished_for) {
  make({.pages = 3, .page_tokens = 4, .sequences = 4});
  leave(tokens(4, 100), "", {.priority = 90});
  leave(tokens(4, 100), "", {.priority = 10});
  leave(tokens(4, 200), "", {.priority = 60});
  leave(tokens(8, 300), "", {.priority = 60});
  EXPECT_EQ(found(joined(tokens(4, 100), {0})), 4);
  EXPECT_EQ(found(joined(tokens(4, 200), {0})), 0);
}

TEST_F(CacheTest, what_has_to_go_is_offloaded_and_comes_back_when_found) {
  make({.pages = 3, .page_tokens = 4, .sequences = 4, .host_pages = 2});
  leave(tokens(8));
  cache_->clear_moves();
  const SequenceId other = computed(tokens(12, 100));
  ASSERT_EQ(cache_->moves().size(), 2U);
  EXPECT_EQ(cache_->moves()[0].kind, MoveKind::kOffload);
  EXPECT_EQ(cache_->counts().host_used, 2);
  EXPECT_EQ(found(tokens(9)), 8);
  // No page can be had: it begins with nothing.
  const Opened none = *cache_->open({.tokens = tokens(9)});
  EXPECT_EQ(none.reused_tokens, 0);
  cache_->close(none.sequence);
  cache_->close(other);
  cache_->clear_moves();
  const Opened back = *cache_->open({.tokens = tokens(9)});
  EXPECT_EQ(back.reused_tokens, 8);
  EXPECT_EQ(std::ranges::count(cache_->moves(), MoveKind::kRestore, &Move::kind), 2);
}

TEST_F(CacheTest, a_fork_copies_a_page_only_when_it_writes_to_it) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4});
  const SequenceId a = computed(tokens(6));
  const SequenceId b = *cache_->fork(a);
  EXPECT_EQ(cache_->counts().used, 2);
  cache_->clear_moves();
  ASSERT_TRUE(cache_->append(b, tokens(1, 50)).is_ok());
  EXPECT_EQ(cache_->counts().used, 3);
  ASSERT_EQ(cache_->moves().size(), 1U);
  EXPECT_EQ(cache_->moves()[0].tokens, 2);
  // The other is alone with its page by now.
  ASSERT_TRUE(cache_->append(a, tokens(1, 60)).is_ok());
  EXPECT_EQ(cache_->moves().size(), 1U);
  EXPECT_EQ(cache_->table(a)[0], cache_->table(b)[0]);
  EXPECT_NE(cache_->table(a)[1], cache_->table(b)[1]);
}

TEST_F(CacheTest, drafts_that_are_refused_are_taken_back) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4});
  const SequenceId a = computed(tokens(7));
  ASSERT_TRUE(cache_->append(a, tokens(6, 50)).is_ok());
  EXPECT_EQ(cache_->counts().used, 4);
  ASSERT_TRUE(cache_->truncate(a, 9).is_ok());
  cache_->commit(a);
  EXPECT_EQ(cache_->counts().used, 3);
  EXPECT_EQ(cache_->committed(a), 9);
  EXPECT_FALSE(cache_->truncate(a, 10).is_ok());
  // Back into a page that others may find: it is copied before it is written.
  ASSERT_TRUE(cache_->truncate(a, 6).is_ok());
  cache_->clear_moves();
  ASSERT_TRUE(cache_->append(a, tokens(1, 90)).is_ok());
  EXPECT_EQ(cache_->moves().size(), 1U);
}

TEST_F(CacheTest, pages_that_slide_out_of_the_window_are_given_back_but_for_the_sinks) {
  make({.pages = 10, .page_tokens = 4, .sequences = 4, .window = 8, .sinks = 2, .reuse = false});
  const SequenceId a = computed(tokens(4));
  for (int32_t i = 4; i < 40; ++i) {
    ASSERT_TRUE(cache_->append(a, tokens(1, i)).is_ok());
    cache_->commit(a);
    EXPECT_LE(cache_->counts().used, cache_->pages_of_length(i + 1, 1));
  }
  EXPECT_LE(cache_->pages_of_length(40, 1), 5);
  EXPECT_GE(cache_->table(a)[0], 0);
  EXPECT_EQ(cache_->table(a)[1], -1);
  EXPECT_GE(cache_->table(a)[9], 0);
}

TEST_F(CacheTest, what_cannot_be_had_is_refused_and_changes_nothing) {
  make({.pages = 2, .page_tokens = 4, .sequences = 1});
  const SequenceId a = computed(tokens(5));
  const Status s = cache_->append(a, tokens(4, 50));
  EXPECT_EQ(s.code(), StatusCode::kExhausted);
  EXPECT_EQ(s.message(), "4 tokens need 1 more pages and 0 of 2 can be had");
  EXPECT_EQ(cache_->length(a), 5);
  EXPECT_EQ(cache_->open({.tokens = tokens(1)}).status().code(), StatusCode::kExhausted);
  EXPECT_EQ(cache_->fork(a).status().code(), StatusCode::kExhausted);
  EXPECT_NE(Cache::make({.pages = 0}).status().message().find("pages is 0"), std::string::npos);
  EXPECT_NE(Cache::make({.pages = 9, .page_tokens = 16, .window = 20}).status().message().find("two pages"),
            std::string::npos);
}

}  // namespace
}  // namespace nereid::kv
