// SPDX-License-Identifier: Apache-2.0
// Recounts the cache's books from scratch and says where they disagree.
#include <algorithm>
#include <utility>

#include "llm/kv/cache_impl.h"

namespace nereid::kv {
namespace {

struct Recount {
  std::vector<int32_t> refs;       // by page, from the tables
  std::vector<int32_t> node;       // by page, from the tree
  std::vector<int32_t> host_node;  // by host place
  std::vector<int32_t> opened;     // by node: sequences of that root
};

}  // namespace

struct Cache::Auditor {
  const Impl& c;
  Recount r;

  static size_t at(int32_t i) { return static_cast<size_t>(i); }

  Status sequence(int32_t id) {
    const Sequence& s = c.sequences[at(id)];
    if (!s.is_open) return Status::ok();
    ++r.opened[at(s.root)];
    if (static_cast<int32_t>(s.table.size()) != c.pages_for_tokens(s.length()))
      return internal("sequence {} of {} tokens has {} pages", id, s.length(), s.table.size());
    if (s.committed > s.length() || s.in_tree > s.committed / c.options.page_tokens)
      return internal("sequence {} of {} tokens says that {} are computed and {} pages are in the tree", id, s.length(),
                      s.committed, s.in_tree);
    for (int32_t i = 0; i < static_cast<int32_t>(s.table.size()); ++i) {
      const int32_t page = s.table[at(i)];
      if (page < 0) {
        const int32_t seen = std::max(0, s.committed - c.options.window + 1) / c.options.page_tokens;
        if (c.options.window == 0 || i >= seen || i < c.sink_pages())
          return internal("sequence {} has no page {} and needs it", id, i);
        continue;
      }
      ++r.refs[at(page)];
      if (i < s.in_tree &&
          !std::ranges::equal(c.tree.tokens(c.pool.node(page)), c.page_tokens(s, i, c.options.page_tokens)))
        return internal("page {} of sequence {} holds other tokens than the tree says", i, id);
      const bool is_written = (i + 1) * c.options.page_tokens > s.committed && s.length() > s.committed;
      if (is_written && (c.pool.node(page) >= 0 || c.pool.refs(page) != 1))
        return internal("page {} of sequence {} is written, but it is shared", i, id);
    }
    return Status::ok();
  }

  Status node(int32_t id, int32_t parent) {
    const Node& n = c.tree[id];
    const Node& p = c.tree[parent];
    if (n.parent != parent || n.depth != (p.parent < 0 ? 0 : p.depth + 1))
      return internal("node {} is not where its parent {} says", id, parent);
    if (n.count < 1 || n.count > c.options.page_tokens || (n.count < c.options.page_tokens && !n.children.empty()))
      return internal("node {} has {} tokens and {} children", id, n.count, n.children.size());
    if (n.page >= 0 && n.host >= 0) return internal("node {} lies in two places", id);
    if (n.pinned) return internal("node {} is still pinned", id);
    if (n.page >= 0 && std::exchange(r.node[at(n.page)], id) >= 0) return internal("two nodes lie in page {}", n.page);
    if (n.host >= 0 && std::exchange(r.host_node[at(n.host)], id) >= 0)
      return internal("two nodes lie in host place {}", n.host);
    const bool any = c.options.window > 0;
    if (!n.is_there() && (!any || n.children.empty())) return internal("node {} is nowhere", id);
    if (!any && n.page >= 0 && p.parent >= 0 && p.page < 0)
      return internal("node {} is on the device and its parent is not", id);
    const bool in_use = n.page >= 0 && c.pool.refs(n.page) > 0;
    if (!any && in_use && p.parent >= 0 && c.pool.refs(p.page) == 0)
      return internal("node {} is in use and its parent is not", id);
    const bool may_leave = n.page >= 0 && !in_use && (any || n.children_on_device == 0);
    if (may_leave != c.device_queue.contains(id))
      return internal("node {} is {}in the queue of the device", id, may_leave ? "not " : "");
    const bool may_leave_host = n.host >= 0 && (any || n.children.empty());
    if (may_leave_host != c.host_queue.contains(id))
      return internal("node {} is {}in the queue of the host", id, may_leave_host ? "not " : "");
    return children(id);
  }

  Status children(int32_t id) {
    const Node& n = c.tree[id];
    int32_t on_device = 0;
    for (size_t i = 0; i < n.children.size(); ++i) {
      on_device += c.tree[n.children[i]].page >= 0;
      NEREID_RETURN_IF_ERROR(node(n.children[i], id));
      if (i > 0 &&
          !std::ranges::lexicographical_compare(c.tree.tokens(n.children[i - 1]), c.tree.tokens(n.children[i])))
        return internal("the children of node {} are not in order", id);
    }
    if (on_device != n.children_on_device)
      return internal("node {} has {} children on the device and counts {}", id, on_device, n.children_on_device);
    return Status::ok();
  }

  Status pages() {
    std::vector<bool> is_free(at(c.options.pages));
    for (int32_t page : c.pool.free_list()) {
      if (is_free[at(page)]) return internal("page {} is free twice", page);
      is_free[at(page)] = true;
    }
    int32_t used = 0;
    for (int32_t page = 0; page < c.options.pages; ++page) {
      if (r.refs[at(page)] != c.pool.refs(page))
        return internal("page {} has {} holders and counts {}", page, r.refs[at(page)], c.pool.refs(page));
      if (r.node[at(page)] != c.pool.node(page))
        return internal("page {} lies in node {} and says {}", page, r.node[at(page)], c.pool.node(page));
      const bool is_nobodys = r.refs[at(page)] == 0 && r.node[at(page)] < 0;
      if (is_nobodys != is_free[at(page)])
        return internal("page {} is {}", page, is_nobodys ? "leaked" : "free and in use");
      used += r.refs[at(page)] > 0;
    }
    if (used != c.pool.used()) return internal("{} pages are in use and {} are counted", used, c.pool.used());
    for (int32_t place : c.free_host)
      if (std::exchange(r.host_node[at(place)], 0) >= 0) return internal("host place {} is free and in use", place);
    if (std::ranges::any_of(r.host_node, [](int32_t n) { return n < 0; })) return internal("a host place is leaked");
    return Status::ok();
  }

  Status all() {
    for (int32_t i = 0; i < c.options.sequences; ++i) NEREID_RETURN_IF_ERROR(sequence(i));
    for (const auto& [key, root] : c.tree.roots()) {
      if (r.opened[at(root)] != c.tree[root].opened)
        return internal("{} sequences of key '{}' are open and {} are counted", r.opened[at(root)], key,
                        c.tree[root].opened);
      if (c.tree[root].opened == 0 && c.tree[root].children.empty()) return internal("key '{}' has nothing left", key);
      NEREID_RETURN_IF_ERROR(children(root));
    }
    return pages();
  }
};

Status Cache::audit() const {
  const Impl& c = *impl_;
  const auto pages = static_cast<size_t>(c.options.pages);
  Auditor auditor{.c = c,
                  .r = {.refs = std::vector<int32_t>(pages),
                        .node = std::vector<int32_t>(pages, -1),
                        .host_node = std::vector<int32_t>(static_cast<size_t>(c.options.host_pages), -1),
                        .opened = std::vector<int32_t>(static_cast<size_t>(c.tree.size()))}};
  return auditor.all();
}

}  // namespace nereid::kv
