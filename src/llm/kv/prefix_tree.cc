// SPDX-License-Identifier: Apache-2.0
#include "llm/kv/prefix_tree.h"

#include <algorithm>

namespace nereid::kv {

int32_t shared_tokens(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<int32_t>(std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first -
                              a.begin());
}

std::span<const int32_t> PrefixTree::tokens(int32_t node) const {
  return std::span(tokens_).subspan(static_cast<size_t>(node) * static_cast<size_t>(page_tokens_),
                                    static_cast<size_t>((*this)[node].count));
}

int32_t PrefixTree::new_node() {
  if (!free_.empty()) {
    const int32_t node = free_.back();
    free_.pop_back();
    return node;
  }
  nodes_.emplace_back();
  tokens_.resize(nodes_.size() * static_cast<size_t>(page_tokens_));
  return size() - 1;
}

int32_t PrefixTree::root(std::string_view key) const {
  const auto it = roots_.find(key);
  return it == roots_.end() ? -1 : it->second;
}

int32_t PrefixTree::make_root(std::string_view key) {
  if (const int32_t known = root(key); known >= 0) return known;
  const int32_t node = new_node();
  (*this)[node].key = &roots_.emplace(std::string(key), node).first->first;
  return node;
}

// Of the first child that does not come before these tokens.
size_t PrefixTree::place(const Node& parent, std::span<const int32_t> tokens) const {
  const auto before = [&](int32_t child, std::span<const int32_t> wanted) {
    const std::span<const int32_t> own = this->tokens(child);
    return std::lexicographical_compare(own.begin(), own.end(), wanted.begin(), wanted.end());
  };
  return static_cast<size_t>(std::lower_bound(parent.children.begin(), parent.children.end(), tokens, before) -
                             parent.children.begin());
}

int32_t PrefixTree::child(int32_t parent, std::span<const int32_t> tokens) const {
  const Node& p = (*this)[parent];
  const size_t at = place(p, tokens);
  if (at == p.children.size()) return -1;
  const std::span<const int32_t> own = this->tokens(p.children[at]);
  return std::equal(own.begin(), own.end(), tokens.begin(), tokens.end()) ? p.children[at] : -1;
}

PrefixTree::Shared PrefixTree::longest(int32_t parent, std::span<const int32_t> tokens) const {
  const Node& p = (*this)[parent];
  const size_t at = place(p, tokens);
  Shared best;
  for (size_t i = at == 0 ? 0 : at - 1; i <= at && i < p.children.size(); ++i) {
    if (!(*this)[p.children[i]].is_there()) continue;
    const int32_t n = shared_tokens(this->tokens(p.children[i]), tokens);
    if (n > best.tokens) best = {p.children[i], n};
  }
  return best;
}

int32_t PrefixTree::insert(int32_t parent, std::span<const int32_t> tokens) {
  const int32_t node = new_node();
  std::copy(tokens.begin(), tokens.end(), tokens_.begin() + static_cast<ptrdiff_t>(node) * page_tokens_);
  Node& n = (*this)[node];
  Node& p = (*this)[parent];
  n.parent = parent;
  n.depth = p.parent < 0 ? 0 : p.depth + 1;
  n.count = static_cast<int32_t>(tokens.size());
  p.children.insert(p.children.begin() + static_cast<ptrdiff_t>(place(p, tokens)), node);
  return node;
}

void PrefixTree::remove(int32_t node) {
  Node& n = (*this)[node];
  NEREID_CHECK(n.children.empty() && !n.is_there() && n.parent >= 0);
  std::vector<int32_t>& siblings = (*this)[n.parent].children;
  siblings.erase(siblings.begin() + static_cast<ptrdiff_t>(place((*this)[n.parent], tokens(node))));
  n = Node();
  free_.push_back(node);
}

void PrefixTree::remove_root(int32_t root) {
  Node& n = (*this)[root];
  NEREID_CHECK(n.children.empty() && n.opened == 0 && n.key);
  roots_.erase(roots_.find(*n.key));
  n = Node();
  free_.push_back(root);
}

}  // namespace nereid::kv
