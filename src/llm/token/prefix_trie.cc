// SPDX-License-Identifier: Apache-2.0
// Built breadth first from the sorted strings: each node is a range of strings with the same beginning.
#include "llm/token/prefix_trie.h"

namespace nereid::token {

PrefixTrie::PrefixTrie(const StringTable& table, std::vector<int32_t> members) {
  const auto text = [&](size_t i) { return table[static_cast<size_t>(members[i])]; };
  std::erase_if(members, [&](int32_t m) { return table[static_cast<size_t>(m)].empty(); });
  std::sort(members.begin(), members.end(),
            [&](int32_t a, int32_t b) { return table[static_cast<size_t>(a)] < table[static_cast<size_t>(b)]; });
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges = {{0, members.size(), 0}};  // ranges[n] belongs to nodes_[n]
  nodes_.emplace_back();
  for (size_t n = 0; n < ranges.size(); ++n) {
    auto [i, end, depth] = ranges[n];
    if (i < end && text(i).size() == depth) nodes_[n].value = members[i++];
    nodes_[n].first_child = static_cast<uint32_t>(nodes_.size());
    while (i < end) {
      const char label = text(i)[depth];
      size_t j = i + 1;
      while (j < end && text(j)[depth] == label) ++j;
      ranges.push_back({i, j, depth + 1});
      nodes_.push_back({.label = static_cast<unsigned char>(label)});
      ++nodes_[n].children;
      i = j;
    }
  }
}

}  // namespace nereid::token
