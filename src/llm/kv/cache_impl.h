// SPDX-License-Identifier: Apache-2.0
// What the files of the cache share. Private to llm/kv.
#pragma once

#include <vector>

#include "llm/kv/cache.h"
#include "llm/kv/evict_queue.h"
#include "llm/kv/page_pool.h"
#include "llm/kv/prefix_tree.h"

namespace nereid::kv {

struct Sequence {
  bool is_open = false;
  int32_t root = -1;
  int32_t committed = 0;
  int32_t in_tree = 0;   // pages from the beginning that have entered the tree (or slid out after that)
  int32_t slid_out = 0;  // pages before this one and behind the sinks are gone
  int32_t changed_from = 0;
  Retention retention;
  std::vector<int32_t> tokens;
  std::vector<int32_t> table;
  int32_t length() const { return static_cast<int32_t>(tokens.size()); }
};

struct Cache::Impl {
  explicit Impl(const CacheOptions& o) : options(o), pool(o.pages), tree(o.page_tokens) {
    sequences.resize(static_cast<size_t>(o.sequences));
    for (int32_t i = o.sequences; i-- > 0;) free_rows.push_back(i);
    for (int32_t i = o.host_pages; i-- > 0;) free_host.push_back(i);
  }

  const CacheOptions options;
  PagePool pool;
  PrefixTree tree;
  EvictQueue device_queue, host_queue;  // nodes that may leave
  EvictQueue expiries;                  // nodes whose retention ends; the tick is when
  std::vector<Sequence> sequences;
  std::vector<int32_t> free_rows, free_host;
  std::vector<Move> moves;
  int64_t now_us = 0;
  int64_t tick = 0;
  CacheCounts totals;

  Sequence& open_sequence(SequenceId id) {
    NEREID_CHECK(static_cast<size_t>(id.v) < sequences.size() && sequences[static_cast<size_t>(id.v)].is_open);
    return sequences[static_cast<size_t>(id.v)];
  }
  int32_t pages_for_tokens(int64_t tokens) const {
    return static_cast<int32_t>((tokens + options.page_tokens - 1) / options.page_tokens);
  }
  int32_t available() const { return pool.free() + pool.cached(); }

  // The first page behind the sinks that the token at `position` still looks at, rollback included.
  int32_t first_page_seen(int32_t position) const;
  int32_t sink_pages() const { return pages_for_tokens(options.sinks); }

  // cache_open.cc: what the tree has of these tokens.
  struct Found {
    std::vector<int32_t> nodes;  // whole pages in order
    PrefixTree::Shared part;     // and the beginning of a page behind them
    int32_t tokens(int32_t page_tokens) const { return static_cast<int32_t>(nodes.size()) * page_tokens + part.tokens; }
  };
  Found find(const OpenRequest& request) const;
  void cut_to_window(Found& found) const;

  // reclaim.cc
  bool make_room(int32_t pages);  // as many are free now; false: they cannot be
  bool evict_one();
  void drop_contents(int32_t node);  // and the node, where nothing comes after it
  void drop_empty(int32_t node);     // the node and its parents, as far as they hold nothing
  void drop_root(int32_t root);
  void refresh(int32_t node);  // whether it may leave, and when
  void set_page(int32_t node, int32_t page);
  void set_host(int32_t node, int32_t host);
  void retain(int32_t node, const Retention& retention);
  void touch(int32_t node) {
    tree[node].tick = tick;
    refresh(node);
  }
  void forget_below(int32_t node);

  // cache.cc
  void release(int32_t page);
  void slide(Sequence& s);
  bool must_copy_last(const Sequence& s) const;
  void enter_tree(Sequence& s, int32_t index);
  void leave_part(Sequence& s);
  std::span<const int32_t> page_tokens(const Sequence& s, int32_t index, int32_t count) const {
    return std::span(s.tokens).subspan(static_cast<size_t>(index) * static_cast<size_t>(options.page_tokens),
                                       static_cast<size_t>(count));
  }
};

}  // namespace nereid::kv
