// SPDX-License-Identifier: Apache-2.0
// Finding the beginning of a sequence in the tree, and beginning the sequence with it.
#include <algorithm>

#include "llm/kv/cache_impl.h"

namespace nereid::kv {

int32_t Cache::Impl::first_page_seen(int32_t position) const {
  if (options.window == 0) return 0;
  return std::max(0, position - options.window + 1 - options.rollback) / options.page_tokens;
}

Cache::Impl::Found Cache::Impl::find(const OpenRequest& request) const {
  Found found;
  int32_t node = tree.root(request.key);
  int64_t limit = static_cast<int64_t>(request.tokens.size()) - 1;
  if (request.max_reuse >= 0) limit = std::min<int64_t>(limit + 1, request.max_reuse);
  if (!options.reuse || node < 0 || limit <= 0) return found;
  std::span<const int32_t> rest = request.tokens.first(static_cast<size_t>(limit));
  const auto page = static_cast<size_t>(options.page_tokens);
  while (rest.size() >= page) {
    const int32_t child = tree.child(node, rest.first(page));
    if (child < 0 || (options.window == 0 && !tree[child].is_there())) break;
    found.nodes.push_back(node = child);
    rest = rest.subspan(page);
  }
  found.part = tree.longest(node, rest.first(std::min(rest.size(), page)));
  if (options.window > 0) cut_to_window(found);
  return found;
}

// Cuts what was found to the longest beginning of which the next token finds everything that it looks at.
void Cache::Impl::cut_to_window(Found& found) const {
  int32_t first_gap = -1;  // the first page that is not there
  int32_t there_from = 0;  // all pages from this one up to the one at hand are there
  int32_t best = 0;
  const auto fits = [&](int32_t pages, int32_t tokens) {
    const bool has_sinks = first_gap < 0 || first_gap >= sink_pages();
    return has_sinks && (there_from <= first_page_seen(tokens) || there_from <= sink_pages()) && pages > 0;
  };
  for (size_t i = 0; i < found.nodes.size(); ++i) {
    const auto pages = static_cast<int32_t>(i) + 1;
    if (!tree[found.nodes[i]].is_there()) {
      if (first_gap < 0) first_gap = static_cast<int32_t>(i);
      there_from = pages;
    }
    if (fits(pages, pages * options.page_tokens)) best = pages;
  }
  const auto all = static_cast<int32_t>(found.nodes.size());
  if (best < all) {
    found.nodes.resize(static_cast<size_t>(best));
    found.part = {};
  }
}

Match Cache::match(const OpenRequest& request) const {
  const Impl& c = *impl_;
  const Impl::Found found = c.find(request);
  Match m{.tokens = found.tokens(c.options.page_tokens)};
  const int32_t first = c.first_page_seen(static_cast<int32_t>(found.nodes.size()) * c.options.page_tokens);
  for (size_t i = 0; i < found.nodes.size(); ++i) {
    if (static_cast<int32_t>(i) < first && static_cast<int32_t>(i) >= c.sink_pages()) continue;
    const Node& n = c.tree[found.nodes[i]];
    if (n.page < 0) continue;
    ++m.shared_pages;
    if (c.pool.refs(n.page) == 0) ++m.idle_pages;
  }
  return m;
}

Result<Opened> Cache::open(const OpenRequest& request) {
  Impl& c = *impl_;
  if (c.free_rows.empty())
    return exhausted("all {} rows of the page table are in use; a sequence has to end first", c.options.sequences);
  const SequenceId id{c.free_rows.back()};
  c.free_rows.pop_back();
  Sequence& s = c.sequences[static_cast<size_t>(id.v)];
  s = Sequence{.is_open = true,
               .root = c.tree.make_root(request.key),
               .retention = request.retention,
               .tokens = std::move(s.tokens),
               .table = std::move(s.table)};
  s.tokens.clear();
  s.table.clear();
  ++c.tree[s.root].opened;
  ++c.tick;
  c.totals.looked_up_tokens += static_cast<int64_t>(request.tokens.size());

  Impl::Found found = c.find(request);
  // Nothing of it may leave while room is made for the rest of it.
  const auto pin = [&](bool pinned) {
    for (int32_t node : found.nodes) {
      c.tree[node].pinned = pinned;
      c.refresh(node);
    }
    if (found.part.node < 0) return;
    c.tree[found.part.node].pinned = pinned;
    c.refresh(found.part.node);
  };
  pin(true);
  // By the whole pages alone: there may be no page for the part.
  const int32_t first = c.first_page_seen(static_cast<int32_t>(found.nodes.size()) * c.options.page_tokens);
  bool is_whole = true;
  for (size_t i = 0; i < found.nodes.size() && is_whole; ++i) {
    const int32_t node = found.nodes[i];
    const auto index = static_cast<int32_t>(i);
    if (index < first && index >= c.sink_pages()) {
      s.table.push_back(-1);
      continue;
    }
    if (const int32_t page = c.tree[node].page; page >= 0) {
      c.pool.hold(page);
    } else if (c.make_room(1)) {
      const int32_t new_page = c.pool.take();
      c.moves.push_back(
          {.kind = MoveKind::kRestore, .src = c.tree[node].host, .dst = new_page, .tokens = c.options.page_tokens});
      ++c.totals.restored_pages;
      c.set_page(node, new_page);
      c.set_host(node, -1);
    } else {
      is_whole = false;
      continue;
    }
    c.tree[node].tick = c.tick;
    c.retain(node, request.retention);
    s.table.push_back(c.tree[node].page);
  }
  s.slid_out = std::min(first, static_cast<int32_t>(s.table.size()));
  int32_t reused = static_cast<int32_t>(s.table.size()) * c.options.page_tokens;
  if (is_whole && found.part.tokens > 0 && c.make_room(1)) {
    const Node& n = c.tree[found.part.node];
    const int32_t page = c.pool.take();
    c.moves.push_back({.kind = n.page >= 0 ? MoveKind::kCopy : MoveKind::kRestore,
                       .src = n.page >= 0 ? n.page : n.host,
                       .dst = page,
                       .tokens = found.part.tokens});
    n.page >= 0 ? c.totals.copied_tokens += found.part.tokens : ++c.totals.restored_pages;
    c.tree[found.part.node].tick = c.tick;
    s.table.push_back(page);
    reused += found.part.tokens;
  }
  pin(false);
  if (!is_whole && c.options.window > 0) {
    // Without the pages that lack, its next token would not find its window: it begins anew.
    for (int32_t page : s.table)
      if (page >= 0) c.release(page);
    s.table.clear();
    s.slid_out = reused = 0;
  }
  s.tokens.assign(request.tokens.begin(), request.tokens.begin() + reused);
  s.committed = reused;
  s.in_tree = reused / c.options.page_tokens;
  c.totals.reused_tokens += reused;
  return Opened{.sequence = id, .reused_tokens = reused};
}

}  // namespace nereid::kv
