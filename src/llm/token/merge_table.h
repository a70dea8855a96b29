// SPDX-License-Identifier: Apache-2.0
// (left token, right token) -> rank and result of their merge, by open addressing: 16 bytes a slot.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

class MergeTable {
 public:
  static constexpr uint32_t kNoRank = UINT32_MAX;
  struct Entry {
    uint32_t rank = kNoRank;
    int32_t result = kNoToken;
  };

  // Of equal pairs the first counts: it has the better rank.
  explicit MergeTable(std::span<const Merge> merges)
      : slots_(std::bit_ceil(merges.size() * 2 + 2)), shift_(64 - std::bit_width(slots_.size() - 1)) {
    for (size_t i = 0; i < merges.size(); ++i) {
      Slot& slot = slots_[place(key_of(merges[i].left, merges[i].right))];
      if (slot.entry.rank != kNoRank) continue;
      slot = {key_of(merges[i].left, merges[i].right), {static_cast<uint32_t>(i), merges[i].result}};
    }
  }

  // {kNoRank, kNoToken} if the two do not merge, or one of them is no token.
  Entry find(int32_t left, int32_t right) const { return slots_[place(key_of(left, right))].entry; }

 private:
  struct Slot {
    uint64_t key = UINT64_MAX;
    Entry entry;
  };
  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  // Where `key` is, or the empty slot where it would be.
  size_t place(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = (key * 0x9E3779B97F4A7C15u) >> shift_;
    while (slots_[i].entry.rank != kNoRank && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }

  std::vector<Slot> slots_;
  int shift_;
};

}  // namespace nereid::token
