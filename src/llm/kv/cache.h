// SPDX-License-Identifier: Apache-2.0
// Who owns which page of the key/value cache, and what may be found in it again: accounting only, no memory.
//
// A sequence's tokens lie in pages of page_tokens; its table row says which. Pages whose tokens have been computed
// enter a tree over tokens (one tree a key), where sequences to come find them: whole pages are shared, the beginning
// of a page is copied. A page that is written has one owner and is not in the tree. Nobody's pages stay in the tree
// until room is needed; then the leaf that was used longest ago goes first (priorities aside), to host memory where
// there is room for it, for good where there is none.
//
// One life: open() -> { append() -> the step runs -> commit() }* -> close(). Everything here is decided at once and
// takes effect in the device's memory by moves(), which the caller carries out before it runs the next tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/kv/move.h"

namespace nereid::kv {

struct CacheOptions {
  int32_t pages = 0;
  int32_t page_tokens = 16;
  int32_t sequences = 1;   // rows of the page table: sequences that are open at one time
  int32_t host_pages = 0;  // places in host memory; 0: what has to go is dropped
  // Positions that every layer sees at most, the token's own included; 0: all. Pages that slid out are given back.
  int32_t window = 0;
  int32_t sinks = 0;     // with a window: the first positions, which are kept for good
  int32_t rollback = 0;  // with a window: tokens that truncate() may take back and still find its window
  bool reuse = true;     // false: nothing is found again
};

// How strongly what a sequence leaves behind is kept: pages of a lower priority go first, whatever their age.
struct Retention {
  static constexpr int32_t kDefaultPriority = 50;
  int32_t priority = kDefaultPriority;  // 0 to 100
  int64_t until_us = 0;                 // on the caller's clock; the default's from then on; 0: for good
};

struct OpenRequest {
  std::string_view key = {};  // what else the contents hang on (adapter, salt): different keys never share
  std::span<const int32_t> tokens = {};
  int32_t max_reuse = -1;  // of the tokens; -1: all but the last, whose logits are wanted
  Retention retention = {};
};

struct Opened {
  SequenceId sequence;
  int32_t reused_tokens = 0;  // the length it begins with: they need not be computed
};

struct Match {
  int32_t tokens = 0;        // that open() would reuse, had it pages enough
  int32_t shared_pages = 0;  // whole pages among them that are on the device: they need no new page
  int32_t idle_pages = 0;    // of these, in nobody's use until now: they stop being available()
};

struct CacheCounts {
  int32_t pages = 0, free = 0;
  int32_t used = 0;    // by open sequences, shared ones once
  int32_t cached = 0;  // in nobody's use, kept to be found again
  int32_t host_pages = 0, host_used = 0;
  int64_t looked_up_tokens = 0, reused_tokens = 0, copied_tokens = 0;  // totals, as all below
  int64_t evicted_pages = 0, offloaded_pages = 0, restored_pages = 0, merged_pages = 0;
};

class Cache {
 public:
  // kInvalidArgument names the option and the value.
  static Result<std::unique_ptr<Cache>> make(const CacheOptions& options);
  ~Cache();

  const CacheOptions& options() const;
  // Retentions that end at `now_us` or before have ended. Never runs backwards.
  void set_time(int64_t now_us);

  Match match(const OpenRequest& request) const;
  // A sequence that begins with what was found. Where pages lack for all of it, with less. kExhausted: no row is free.
  Result<Opened> open(const OpenRequest& request);
  // Room for these tokens, which the next step computes. kExhausted: not enough pages; nothing has changed then.
  Status append(SequenceId sequence, std::span<const int32_t> tokens);
  // What was appended has been computed: its whole pages can be found from now on. A page whose contents the tree holds
  // already is given back for that one, so the table may change.
  void commit(SequenceId sequence);
  // Another sequence of the same tokens, all of them committed; a page is copied when one of the two writes to it.
  // kExhausted: no row is free.
  Result<SequenceId> fork(SequenceId sequence);
  // Forgets the tokens from `length` on (drafts that were refused, a context that shifts); open to append() again.
  // kInvalidArgument: longer than it is, or into what has slid out of the window.
  Status truncate(SequenceId sequence, int32_t length);
  // Gives its pages back. What was committed can be found again; the rest is forgotten.
  void close(SequenceId sequence);

  int32_t length(SequenceId sequence) const;  // tokens appended
  int32_t committed(SequenceId sequence) const;
  // The row of the page table; -1 where pages have slid out, which no token looks at. Valid until the next change.
  std::span<const int32_t> table(SequenceId sequence) const;
  // The first entry that has changed since the last call for this sequence; table().size() when none.
  int32_t take_change(SequenceId sequence);

  // In order; appended to by open() and append() (and by nothing else), until cleared.
  const std::vector<Move>& moves() const;
  void clear_moves();

  int32_t available() const;  // pages that append() can get: free, and cached
  // Pages that append() of so many tokens takes.
  int32_t pages_for(SequenceId sequence, int32_t tokens) const;
  // The most pages that a sequence so long ever holds when it is appended to by at most `at_once` tokens.
  int32_t pages_of_length(int64_t tokens, int32_t at_once) const;
  CacheCounts counts() const;

  // Drops what nobody uses, of one key (an adapter that is unloaded) or of all.
  void forget(std::string_view key);
  void forget_all();

  // Recounts everything; kInternal with a sentence where the books do not agree. O(pages); for tests.
  Status audit() const;

 private:
  Cache();
  struct Impl;
  struct Auditor;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nereid::kv
