// SPDX-License-Identifier: Apache-2.0
// The life of a sequence: grow, commit, fork, shrink, end.
#include "llm/kv/cache.h"

#include <algorithm>
#include <tuple>

#include "llm/kv/cache_impl.h"

namespace nereid::kv {

Cache::Cache() = default;
Cache::~Cache() = default;

Result<std::unique_ptr<Cache>> Cache::make(const CacheOptions& o) {
  constexpr int32_t kMost = 1 << 28;
  for (auto [name, value, least] : {std::tuple{"pages", o.pages, 1},
                                    {"page_tokens", o.page_tokens, 1},
                                    {"sequences", o.sequences, 1},
                                    {"host_pages", o.host_pages, 0},
                                    {"window", o.window, 0},
                                    {"sinks", o.sinks, 0},
                                    {"rollback", o.rollback, 0}})
    if (value < least || value > kMost)
      return invalid_argument("the cache's {} is {} and should be between {} and {}", name, value, least, kMost);
  if (o.window > 0 && o.window < 2 * o.page_tokens)
    return invalid_argument("a window of {} tokens is less than two pages of {}; use smaller pages", o.window,
                            o.page_tokens);
  std::unique_ptr<Cache> cache(new Cache);
  cache->impl_ = std::make_unique<Impl>(o);
  cache->impl_->totals.pages = o.pages;
  cache->impl_->totals.host_pages = o.host_pages;
  return cache;
}

const CacheOptions& Cache::options() const {
  return impl_->options;
}

void Cache::set_time(int64_t now_us) {
  Impl& c = *impl_;
  NEREID_CHECK(now_us >= c.now_us);
  c.now_us = now_us;
  while (!c.expiries.empty() && c.expiries.key(c.expiries.top()).tick <= now_us) {
    const int32_t node = c.expiries.top();
    c.expiries.erase(node);
    c.tree[node].retention = {};
    c.refresh(node);
  }
}

// One holder less; the last one leaves it to the tree, if it stands there.
void Cache::Impl::release(int32_t page) {
  const int32_t node = pool.node(page);
  if (pool.release(page) && node >= 0) touch(node);
}

// Gives back what no token to come looks at.
void Cache::Impl::slide(Sequence& s) {
  const int32_t first = std::min(first_page_seen(s.committed), static_cast<int32_t>(s.table.size()));
  for (int32_t i = std::max(s.slid_out, sink_pages()); i < first; ++i) {
    int32_t& page = s.table[static_cast<size_t>(i)];
    if (page < 0) continue;
    release(page);
    page = -1;
    s.changed_from = std::min(s.changed_from, i);
  }
  s.slid_out = std::max(s.slid_out, first);
}

// Whether the last page has room, but others hold it or find it in the tree.
bool Cache::Impl::must_copy_last(const Sequence& s) const {
  if (s.length() % options.page_tokens == 0) return false;
  return pool.refs(s.table.back()) > 1 || pool.node(s.table.back()) >= 0;
}

int32_t Cache::pages_for(SequenceId sequence, int32_t tokens) const {
  const Sequence& s = impl_->open_sequence(sequence);
  const int64_t length = s.length() + static_cast<int64_t>(tokens);
  return impl_->pages_for_tokens(length) - static_cast<int32_t>(s.table.size()) + impl_->must_copy_last(s);
}

Status Cache::append(SequenceId sequence, std::span<const int32_t> tokens) {
  Impl& c = *impl_;
  Sequence& s = c.open_sequence(sequence);
  if (tokens.empty()) return Status::ok();
  c.slide(s);
  const int32_t wanted = pages_for(sequence, static_cast<int32_t>(tokens.size()));
  if (!c.make_room(wanted))
    return exhausted("{} tokens need {} more pages and {} of {} can be had", tokens.size(), wanted, c.available(),
                     c.options.pages);
  if (c.must_copy_last(s)) {
    const int32_t shared = s.table.back();
    const int32_t count = s.length() % c.options.page_tokens;
    s.table.back() = c.pool.take();
    c.moves.push_back({.kind = MoveKind::kCopy, .src = shared, .dst = s.table.back(), .tokens = count});
    c.totals.copied_tokens += count;
    c.release(shared);
    s.changed_from = std::min(s.changed_from, static_cast<int32_t>(s.table.size()) - 1);
  }
  s.tokens.insert(s.tokens.end(), tokens.begin(), tokens.end());
  const int32_t pages = c.pages_for_tokens(s.length());
  s.changed_from = std::min(s.changed_from, static_cast<int32_t>(s.table.size()));
  while (static_cast<int32_t>(s.table.size()) < pages) s.table.push_back(c.pool.take());
  return Status::ok();
}

void Cache::commit(SequenceId sequence) {
  Impl& c = *impl_;
  Sequence& s = c.open_sequence(sequence);
  s.committed = s.length();
  if (!c.options.reuse) return;
  const int32_t whole = s.committed / c.options.page_tokens;
  if (s.in_tree < whole) ++c.tick;
  for (; s.in_tree < whole; ++s.in_tree) c.enter_tree(s, s.in_tree);
}

// A whole page that this sequence has computed.
void Cache::Impl::enter_tree(Sequence& s, int32_t index) {
  int32_t& page = s.table[static_cast<size_t>(index)];
  const int32_t parent = index == 0 ? s.root : pool.node(s.table[static_cast<size_t>(index) - 1]);
  const std::span<const int32_t> tokens = page_tokens(s, index, options.page_tokens);
  NEREID_CHECK(parent >= 0);
  if (pool.node(page) >= 0) return;
  int32_t node = tree.child(parent, tokens);
  if (node >= 0 && tree[node].page >= 0) {
    // Somebody else has computed the same.
    pool.hold(tree[node].page);
    release(page);
    page = tree[node].page;
    s.changed_from = std::min(s.changed_from, index);
    ++totals.merged_pages;
  } else if (node >= 0) {
    set_page(node, page);
    set_host(node, -1);
  } else {
    // Beginnings of this page have had their time.
    for (PrefixTree::Shared part = tree.longest(parent, tokens); part.node >= 0 && part.tokens == tree[part.node].count;
         part = tree.longest(parent, tokens))
      drop_contents(part.node);
    node = tree.insert(parent, tokens);
    tree[node].retention = s.retention;
    if (s.retention.until_us > 0) expiries.put(node, {.tick = s.retention.until_us});
    set_page(node, page);
  }
  retain(node, s.retention);
  touch(node);
}

// The beginning of a page that a sequence leaves when it ends.
void Cache::Impl::leave_part(Sequence& s) {
  const int32_t count = s.committed % options.page_tokens;
  const int32_t index = s.committed / options.page_tokens;
  if (!options.reuse || count == 0 || s.in_tree != index) return;
  const int32_t page = s.table[static_cast<size_t>(index)];
  if (pool.refs(page) > 1 || pool.node(page) >= 0) return;
  const int32_t parent = index == 0 ? s.root : pool.node(s.table[static_cast<size_t>(index) - 1]);
  const std::span<const int32_t> tokens = page_tokens(s, index, count);
  PrefixTree::Shared known = tree.longest(parent, tokens);
  if (known.tokens == count) return;
  for (; known.node >= 0 && known.tokens == tree[known.node].count; known = tree.longest(parent, tokens))
    drop_contents(known.node);
  const int32_t node = tree.insert(parent, tokens);
  tree[node].retention = s.retention;
  if (s.retention.until_us > 0) expiries.put(node, {.tick = s.retention.until_us});
  set_page(node, page);
}

Result<SequenceId> Cache::fork(SequenceId sequence) {
  Impl& c = *impl_;
  const Sequence& from = c.open_sequence(sequence);
  NEREID_CHECK(from.committed == from.length());
  if (c.free_rows.empty())
    return exhausted("all {} rows of the page table are in use; a sequence has to end first", c.options.sequences);
  const SequenceId id{c.free_rows.back()};
  c.free_rows.pop_back();
  Sequence& s = c.sequences[static_cast<size_t>(id.v)];
  s = from;
  s.changed_from = 0;
  ++c.tree[s.root].opened;
  for (int32_t page : s.table)
    if (page >= 0) c.pool.hold(page);
  return id;
}

Status Cache::truncate(SequenceId sequence, int32_t length) {
  Impl& c = *impl_;
  Sequence& s = c.open_sequence(sequence);
  if (length < 0 || length > s.length())
    return invalid_argument("a sequence of {} tokens cannot be cut to {}", s.length(), length);
  const int32_t first = std::max(0, length - c.options.window + 1) / c.options.page_tokens;
  if (c.options.window > 0 && length > 0 && first < s.slid_out && c.sink_pages() < s.slid_out)
    return invalid_argument(
        "a sequence of {} tokens cannot be cut to {}: the {} tokens before have slid out of the window", s.length(),
        length, s.slid_out * c.options.page_tokens);
  const auto pages = static_cast<size_t>(c.pages_for_tokens(length));
  ++c.tick;
  while (s.table.size() > pages) {
    if (s.table.back() >= 0) c.release(s.table.back());
    s.table.pop_back();
  }
  s.changed_from = std::min(s.changed_from, static_cast<int32_t>(pages));
  s.tokens.resize(static_cast<size_t>(length));
  s.committed = std::min(s.committed, length);
  s.in_tree = std::min(s.in_tree, length / c.options.page_tokens);
  s.slid_out = std::min(s.slid_out, static_cast<int32_t>(pages));
  return Status::ok();
}

void Cache::close(SequenceId sequence) {
  Impl& c = *impl_;
  Sequence& s = c.open_sequence(sequence);
  ++c.tick;
  c.leave_part(s);
  for (auto it = s.table.rbegin(); it != s.table.rend(); ++it)
    if (*it >= 0) c.release(*it);
  --c.tree[s.root].opened;
  c.drop_root(s.root);
  s.is_open = false;
  c.free_rows.push_back(sequence.v);
}

int32_t Cache::length(SequenceId sequence) const {
  return impl_->open_sequence(sequence).length();
}

int32_t Cache::committed(SequenceId sequence) const {
  return impl_->open_sequence(sequence).committed;
}

std::span<const int32_t> Cache::table(SequenceId sequence) const {
  return impl_->open_sequence(sequence).table;
}

int32_t Cache::take_change(SequenceId sequence) {
  Sequence& s = impl_->open_sequence(sequence);
  const auto all = static_cast<int32_t>(s.table.size());
  const int32_t from = std::min(s.changed_from, all);
  s.changed_from = all;
  return from;
}

const std::vector<Move>& Cache::moves() const {
  return impl_->moves;
}

void Cache::clear_moves() {
  impl_->moves.clear();
}

int32_t Cache::available() const {
  return impl_->available();
}

int32_t Cache::pages_of_length(int64_t tokens, int32_t at_once) const {
  const CacheOptions& o = impl_->options;
  const int32_t all = impl_->pages_for_tokens(tokens);
  if (o.window == 0) return all;
  // The window, what one step adds to it, and a page begun at either end.
  const int32_t seen = impl_->pages_for_tokens(static_cast<int64_t>(o.window) + o.rollback + at_once) + 1;
  return std::min(all, impl_->sink_pages() + seen);
}

CacheCounts Cache::counts() const {
  CacheCounts n = impl_->totals;
  n.free = impl_->pool.free();
  n.used = impl_->pool.used();
  n.cached = impl_->pool.cached();
  n.host_used = n.host_pages - static_cast<int32_t>(impl_->free_host.size());
  return n;
}

void Cache::forget(std::string_view key) {
  if (const int32_t root = impl_->tree.root(key); root >= 0) impl_->forget_below(root);
}

void Cache::forget_all() {
  std::vector<int32_t> roots;
  for (const auto& [key, root] : impl_->tree.roots()) roots.push_back(root);
  for (int32_t root : roots) impl_->forget_below(root);
}

}  // namespace nereid::kv
