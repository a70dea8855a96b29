// SPDX-License-Identifier: Apache-2.0
// Who leaves the tree when room is needed: the leaf of the lowest priority that was used longest ago, to host memory
// where there is a place, for good where there is none.
//
// Without a window a node is of use only with all its parents, so leaves go first. With one, what comes after a page
// can do without it; then every page in nobody's use may go, and a node may stand without contents to carry what comes
// after it.
#include "llm/kv/cache_impl.h"

namespace nereid::kv {

void Cache::Impl::refresh(int32_t node) {
  const Node& n = tree[node];
  if (n.parent < 0) return;
  const bool any = options.window > 0;
  const EvictQueue::Key key{.priority = n.retention.priority, .depth = n.depth, .tick = n.tick};
  const bool from_device = n.page >= 0 && pool.refs(n.page) == 0 && !n.pinned && (any || n.children_on_device == 0);
  const bool from_host = n.host >= 0 && !n.pinned && (any || n.children.empty());
  from_device ? device_queue.put(node, key) : device_queue.erase(node);
  from_host ? host_queue.put(node, key) : host_queue.erase(node);
}

void Cache::Impl::set_page(int32_t node, int32_t page) {
  Node& n = tree[node];
  const int32_t change = (page >= 0) - (n.page >= 0);
  if (n.page >= 0) pool.leave_tree(n.page);
  n.page = page;
  if (page >= 0) pool.enter_tree(page, node);
  tree[n.parent].children_on_device += change;
  refresh(node);
  if (change) refresh(n.parent);
}

void Cache::Impl::set_host(int32_t node, int32_t host) {
  Node& n = tree[node];
  if (n.host >= 0) free_host.push_back(n.host);
  n.host = host;
  refresh(node);
}

void Cache::Impl::retain(int32_t node, const Retention& retention) {
  Node& n = tree[node];
  if (retention.priority < n.retention.priority) return;
  if (retention.until_us > 0 && retention.until_us <= now_us) return;
  // Of two that keep it equally strongly, the one that keeps it longer.
  const int64_t until = n.retention.until_us;
  const bool is_longer = until != 0 && (retention.until_us == 0 || retention.until_us > until);
  if (retention.priority == n.retention.priority && !is_longer) return;
  n.retention = retention;
  if (retention.until_us > 0)
    expiries.put(node, {.tick = retention.until_us});
  else
    expiries.erase(node);
}

void Cache::Impl::drop_empty(int32_t node) {
  while (tree[node].parent >= 0 && !tree[node].is_there() && tree[node].children.empty()) {
    const int32_t parent = tree[node].parent;
    for (EvictQueue* q : {&device_queue, &host_queue, &expiries}) q->erase(node);
    tree.remove(node);
    node = parent;
    refresh(node);
  }
  drop_root(node);
}

void Cache::Impl::drop_root(int32_t root) {
  const Node& n = tree[root];
  if (n.parent < 0 && n.children.empty() && n.opened == 0) tree.remove_root(root);
}

void Cache::Impl::drop_contents(int32_t node) {
  if (tree[node].page >= 0) set_page(node, -1);
  if (tree[node].host >= 0) set_host(node, -1);
  drop_empty(node);
}

bool Cache::Impl::evict_one() {
  if (device_queue.empty()) return false;
  const int32_t node = device_queue.top();
  if (options.host_pages > 0 && free_host.empty() && !host_queue.empty()) {
    drop_contents(host_queue.top());
    ++totals.evicted_pages;
  }
  if (free_host.empty()) {
    // Whatever comes after it is of no use without it: it has no children then, or there is a window.
    if (options.window == 0 && !tree[node].children.empty()) return false;
    drop_contents(node);
    ++totals.evicted_pages;
    return true;
  }
  const int32_t host = free_host.back();
  free_host.pop_back();
  moves.push_back({.kind = MoveKind::kOffload, .src = tree[node].page, .dst = host, .tokens = tree[node].count});
  ++totals.offloaded_pages;
  set_host(node, host);
  set_page(node, -1);
  return true;
}

bool Cache::Impl::make_room(int32_t pages) {
  if (pages > available()) return false;
  while (pool.free() < pages)
    if (!evict_one()) return false;
  return true;
}

void Cache::Impl::forget_below(int32_t node) {
  // Parents go with their last child, so children are dropped from the last one on and the list is read anew.
  std::vector<int32_t> open = {node}, order;
  while (!open.empty()) {
    const int32_t n = open.back();
    open.pop_back();
    if (tree[n].parent >= 0) order.push_back(n);
    open.insert(open.end(), tree[n].children.begin(), tree[n].children.end());
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& n = tree[*it];
    const bool in_use = n.page >= 0 && pool.refs(n.page) > 0;
    if (in_use || !n.is_there() || (options.window == 0 && !n.children.empty())) continue;
    drop_contents(*it);
  }
}

}  // namespace nereid::kv
