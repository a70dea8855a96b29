// SPDX-License-Identifier: Apache-2.0
// Trees over tokens, one a key: a node is a page's worth of tokens after those of its parent, and says where their keys
// and values lie. Structure only; who may leave when is decided in reclaim.cc.
//
// A node's children are sorted by their tokens, so the one that shares most with a given page stands beside the place
// where that page would stand. Nodes of fewer tokens than a page are leaves; their contents are copied, never shared.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llm/kv/cache.h"

namespace nereid::kv {

struct Node {
  int32_t parent = -1;  // -1: a root, which has no tokens
  int32_t depth = 0;    // pages before it
  int32_t count = 0;    // its tokens; 0: this slot is free, or a root
  int32_t page = -1;    // on the device; both -1: its contents are gone, only what comes after it is there
  int32_t host = -1;
  int32_t children_on_device = 0;
  int32_t opened = 0;   // of a root: open sequences of its key
  bool pinned = false;  // may not leave: something is being made of it
  Retention retention;
  int64_t tick = 0;  // when it was last used, counted in uses
  std::vector<int32_t> children;
  const std::string* key = nullptr;  // of a root
  bool is_there() const { return page >= 0 || host >= 0; }
};

class PrefixTree {
 public:
  explicit PrefixTree(int32_t page_tokens) : page_tokens_(page_tokens) {}

  Node& operator[](int32_t node) { return nodes_[static_cast<size_t>(node)]; }
  const Node& operator[](int32_t node) const { return nodes_[static_cast<size_t>(node)]; }
  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }  // free slots too
  std::span<const int32_t> tokens(int32_t node) const;
  const std::map<std::string, int32_t, std::less<>>& roots() const { return roots_; }

  int32_t root(std::string_view key) const;  // -1: none
  int32_t make_root(std::string_view key);   // or the one there is
  // The child of exactly these tokens; -1: none.
  int32_t child(int32_t parent, std::span<const int32_t> tokens) const;
  struct Shared {
    int32_t node = -1;
    int32_t tokens = 0;
  };
  // The child, whose contents are there, that begins with most of these tokens.
  Shared longest(int32_t parent, std::span<const int32_t> tokens) const;
  // A new child; none of these tokens may be there.
  int32_t insert(int32_t parent, std::span<const int32_t> tokens);
  // One that has no children and whose contents have been given back. Roots with nothing below them and nothing open
  // are removed by remove_root.
  void remove(int32_t node);
  void remove_root(int32_t root);

 private:
  size_t place(const Node& parent, std::span<const int32_t> tokens) const;
  int32_t new_node();

  int32_t page_tokens_;
  std::vector<Node> nodes_;
  std::vector<int32_t> free_;
  std::vector<int32_t> tokens_;  // page_tokens a node
  std::map<std::string, int32_t, std::less<>> roots_;
};

// How many of their first tokens are the same.
int32_t shared_tokens(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace nereid::kv
