// SPDX-License-Identifier: Apache-2.0
// All tokens that start a text, in one walk: a trie whose children lie side by side, sorted by label.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "llm/token/string_table.h"

namespace nereid::token {

class PrefixTrie {
 public:
  PrefixTrie() = default;
  // Of the strings of `table` those at `members`; no two equal.
  PrefixTrie(const StringTable& table, std::vector<int32_t> members);

  // Calls visit(position in the table, size) for each member that starts `text`, shortest first.
  template <typename Visit>
  void for_each_prefix(std::string_view text, const Visit& visit) const {
    if (nodes_.empty()) return;
    const Node* node = nodes_.data();
    for (size_t i = 0; i < text.size(); ++i) {
      node = child(*node, static_cast<unsigned char>(text[i]));
      if (node == nullptr) return;
      if (node->value >= 0) visit(node->value, i + 1);
    }
  }

 private:
  struct Node {
    int32_t value = -1;
    uint32_t first_child = 0;
    uint16_t children = 0;
    unsigned char label = 0;
  };
  const Node* child(const Node& parent, unsigned char label) const {
    const Node* first = nodes_.data() + parent.first_child;
    const Node* last = first + parent.children;
    const Node* at = std::lower_bound(first, last, label, [](const Node& n, unsigned char l) { return n.label < l; });
    return at != last && at->label == label ? at : nullptr;
  }
  std::vector<Node> nodes_;
};

}  // namespace nereid::token
