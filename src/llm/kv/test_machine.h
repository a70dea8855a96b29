// SPDX-License-Identifier: Apache-2.0
// For tests: carries out any list of events on a cache and on a device that remembers what it was told, and says what
// is wrong. The numbers of an event are taken modulo what there is, so that every list has a meaning, also a shrunk
// one.
#pragma once

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include "llm/kv/test_device.h"

namespace nereid::kv {

struct Event {
  enum Kind : uint8_t { kOpen, kAppend, kStep, kFork, kTruncate, kClose, kTime, kForget, kKinds };
  Kind kind = kStep;
  uint32_t a = 0, b = 0, c = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Event& e) {
  static constexpr const char* kNames[] = {"open", "append", "step", "fork", "truncate", "close", "time", "forget"};
  return out << "{" << kNames[e.kind] << " " << e.a << " " << e.b << " " << e.c << "}";
}

class TestMachine {
 public:
  explicit TestMachine(const CacheOptions& o) : options_(o), cache_(*Cache::make(o)), device_(o) {}

  const Cache& cache() const { return *cache_; }

  // Empty when all is well.
  std::string apply(const Event& e) {
    switch (e.kind) {
      case Event::kOpen:
        open(e);
        break;
      case Event::kAppend:
        append(e);
        break;
      case Event::kStep:
        step();
        break;
      case Event::kFork:
        fork(e);
        break;
      case Event::kTruncate:
        truncate(e);
        break;
      case Event::kClose:
        close(e);
        break;
      case Event::kTime:
        cache_->set_time(now_us_ += e.a % 1000);
        break;
      case Event::kForget:
        e.a % 8 == 0 ? cache_->forget_all() : cache_->forget(key(e.a));
        break;
      case Event::kKinds:
        break;
    }
    const CacheCounts n = cache_->counts();
    if (n.free + n.used + n.cached != n.pages || n.cached != cache_->available() - n.free || n.host_used > n.host_pages)
      wrong("the counts do not add up");
    return wrong_;
  }

  // Ends everything; what is left must be nothing.
  std::string finish() {
    step();
    while (!open_.empty()) close({.kind = Event::kClose});
    if (const Status s = cache_->audit(); !s.is_ok()) wrong(s.message());
    cache_->forget_all();
    const CacheCounts n = cache_->counts();
    if (n.free != n.pages || n.host_used != 0) wrong("pages are left over when everything has ended");
    if (const Status s = cache_->audit(); !s.is_ok()) wrong(s.message());
    return wrong_;
  }

  std::string audit() {
    if (const Status s = cache_->audit(); !s.is_ok()) wrong(s.message());
    return wrong_;
  }

 private:
  struct Held {
    std::string key;
    std::vector<int32_t> tokens = {};
    std::vector<uint64_t> entries = {};  // what each position should hold
    size_t longest = 0;                  // that it has been: rollback counts from there
  };

  static std::string key(uint32_t n) { return std::string("abc").substr(0, n % 3); }
  void wrong(std::string_view what) {
    if (wrong_.empty()) wrong_ = what;
  }
  std::map<SequenceId, Held>::iterator pick(uint32_t n) {
    return std::next(open_.begin(), static_cast<ptrdiff_t>(n % open_.size()));
  }
  // Few different tokens, so that beginnings are often shared; the numbers say which.
  static void add_tokens(std::vector<int32_t>& tokens, uint32_t count, uint32_t pattern) {
    for (uint32_t i = 0; i < count; ++i, pattern = pattern * 1664525 + 1013904223)
      tokens.push_back(static_cast<int32_t>((pattern >> 28) == 0));
  }
  void learn(Held& h) {
    uint64_t x = h.entries.empty() ? entry_of_key(h.key) : h.entries.back();
    for (size_t i = h.entries.size(); i < h.tokens.size(); ++i) h.entries.push_back(x = entry_of(x, h.tokens[i]));
  }

  void open(const Event& e) {
    Held h{.key = key(e.a)};
    if (!left_.empty() && e.b % 4 != 0) {  // goes on with what somebody had
      h.tokens = left_[e.b % left_.size()];
      h.tokens.resize(e.c % (h.tokens.size() + 1));
    }
    add_tokens(h.tokens, e.c % static_cast<uint32_t>(3 * options_.page_tokens), e.b);
    if (h.tokens.size() > 400) h.tokens.resize(400);
    const OpenRequest request{.key = h.key,
                              .tokens = h.tokens,
                              .max_reuse = e.c % 7 == 0 ? static_cast<int32_t>(e.b % 50) : -1,
                              .retention = {.priority = e.b % 3 ? 50 : static_cast<int32_t>(e.c % 101),
                                            .until_us = e.a % 2 ? now_us_ + static_cast<int64_t>(e.c % 500) : 0}};
    const Match match = cache_->match(request);
    const bool has_row = open_.size() < static_cast<size_t>(options_.sequences);
    const auto opened = cache_->open(request);
    if (opened.is_ok() != has_row) wrong("open() does not agree with the rows there are");
    if (!opened.is_ok()) return;
    if (opened->reused_tokens > match.tokens) wrong("more is reused than was matched");
    if (opened->reused_tokens >= static_cast<int32_t>(std::max<size_t>(h.tokens.size(), 1)) && request.max_reuse < 0)
      wrong("no token is left to compute");
    if (cache_->length(opened->sequence) != opened->reused_tokens)
      wrong("a sequence does not begin with what it found");
    h.tokens.resize(static_cast<size_t>(opened->reused_tokens));
    h.longest = h.tokens.size();
    learn(h);
    open_[opened->sequence] = std::move(h);
  }

  void append(const Event& e) {
    if (open_.empty()) return;
    const auto it = pick(e.a);
    std::vector<int32_t> tokens;
    add_tokens(tokens, 1 + e.b % static_cast<uint32_t>(2 * options_.page_tokens), e.c);
    if (it->second.tokens.size() + tokens.size() > 600) return;
    const int32_t wanted = cache_->pages_for(it->first, static_cast<int32_t>(tokens.size()));
    const bool fits = wanted <= cache_->available();
    const bool done = cache_->append(it->first, tokens).is_ok();
    // What slides out first may make room.
    if (done != fits && (fits || options_.window == 0)) wrong("append() does not agree with available()");
    if (!done && cache_->length(it->first) != static_cast<int32_t>(it->second.tokens.size()))
      wrong("an append() that failed has changed its sequence");
    if (!done) return;
    it->second.tokens.insert(it->second.tokens.end(), tokens.begin(), tokens.end());
    it->second.longest = std::max(it->second.longest, it->second.tokens.size());
  }

  // The moves, then all that was appended is computed, looking at what it may look at.
  void step() {
    device_.carry_out(cache_->moves());
    cache_->clear_moves();
    for (auto& [id, h] : open_) {
      const auto from = static_cast<int32_t>(h.entries.size());
      learn(h);
      for (int32_t p = from; p < static_cast<int32_t>(h.tokens.size()); ++p)
        device_.entry(cache_->table(id), p) = h.entries[static_cast<size_t>(p)];
    }
    for (auto& [id, h] : open_) check(id, h);
    for (auto& [id, h] : open_) cache_->commit(id);
    for (auto& [id, h] : open_) check(id, h);
  }

  void check(SequenceId id, const Held& h) {
    const std::span<const int32_t> table = cache_->table(id);
    const auto length = static_cast<int32_t>(h.tokens.size());
    if (cache_->length(id) != length) wrong("a sequence has lost tokens");
    const int32_t from = options_.window ? std::max(0, length - options_.window + 1) : 0;
    for (int32_t p = 0; p < length; ++p) {
      if (p < from && p >= options_.sinks) continue;
      if (table[static_cast<size_t>(p / options_.page_tokens)] < 0) return wrong("a page is gone that is looked at");
      if (device_.entry(table, p) != h.entries[static_cast<size_t>(p)]) return wrong("a page holds something else");
    }
  }

  void fork(const Event& e) {
    if (open_.empty()) return;
    const auto it = pick(e.a);
    if (it->second.entries.size() != it->second.tokens.size()) return;
    if (cache_->committed(it->first) != cache_->length(it->first)) return;
    const bool has_row = open_.size() < static_cast<size_t>(options_.sequences);
    const auto id = cache_->fork(it->first);
    if (id.is_ok() != has_row) wrong("fork() does not agree with the rows there are");
    if (id.is_ok()) open_[*id] = it->second;
  }

  void truncate(const Event& e) {
    if (open_.empty()) return;
    const auto it = pick(e.a);
    const auto all = static_cast<uint32_t>(it->second.tokens.size());
    // Mostly a few tokens, as drafts that are refused; sometimes any number.
    const uint32_t keep = e.b % 4 ? all - std::min(all, e.c % 6) : e.c % (all + 1);
    const Status s = cache_->truncate(it->first, static_cast<int32_t>(keep));
    if (!s.is_ok() && (options_.window == 0 || keep + static_cast<uint32_t>(options_.rollback) >= it->second.longest))
      wrong(s.message());
    if (!s.is_ok()) return;
    it->second.tokens.resize(keep);
    it->second.entries.resize(std::min<size_t>(it->second.entries.size(), keep));
  }

  void close(const Event& e) {
    if (open_.empty()) return;
    const auto it = pick(e.a);
    if (left_.size() < 50)
      left_.push_back(it->second.tokens);
    else
      left_[e.b % 50] = it->second.tokens;
    cache_->close(it->first);
    open_.erase(it);
  }

  CacheOptions options_;
  std::unique_ptr<Cache> cache_;
  TestDevice device_;
  std::map<SequenceId, Held> open_;
  std::vector<std::vector<int32_t>> left_;  // tokens of sequences that have ended
  int64_t now_us_ = 0;
  std::string wrong_;
};

}  // namespace nereid::kv
