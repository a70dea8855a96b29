// SPDX-License-Identifier: Apache-2.0
// Words seen before in the same encode() call: text repeats itself, and copying ids is cheaper than merging.
//
// Direct mapped; a word is a view into the text being encoded and its ids a stretch of the result, so nothing is copied
// to remember it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "llm/token/string_table.h"

namespace nereid::token {

class WordCache {
 public:
  explicit WordCache(size_t text_bytes)
      : slots_(std::clamp(std::bit_ceil(text_bytes / 16 + 1), kMinSlots, kMaxSlots)), mask_(slots_.size() - 1) {}

  // Appends the ids of `word` if it is known; else notes where remember() shall put it.
  bool repeat(std::string_view word, std::vector<int32_t>& ids) {
    if (word.size() > kLongestWord) return false;
    const uint64_t hash = hash_bytes(word);
    place_ = (hash >> 20) & mask_;
    tag_ = static_cast<uint32_t>(hash);
    const Slot& slot = slots_[place_];
    if (slot.tag != tag_ || slot.size != word.size() || std::memcmp(slot.word, word.data(), word.size()) != 0) {
      return false;
    }
    const size_t end = ids.size();
    ids.resize(end + slot.count);
    std::copy_n(ids.begin() + static_cast<ptrdiff_t>(slot.first), slot.count,
                ids.begin() + static_cast<ptrdiff_t>(end));
    return true;
  }

  // ids[begin, end) are those of `word`, for which repeat() has just said no. `word` must stay alive.
  void remember(std::string_view word, size_t begin, size_t end) {
    if (word.size() > kLongestWord) return;
    slots_[place_] = {word.data(), begin, tag_, static_cast<uint16_t>(word.size()), static_cast<uint16_t>(end - begin)};
  }

 private:
  static constexpr size_t kMinSlots = 16, kMaxSlots = 1 << 15;
  static constexpr size_t kLongestWord = 128;  // bytes, so no more ids than that by far
  struct Slot {
    const char* word = nullptr;
    size_t first = 0;
    uint32_t tag = 0;
    uint16_t size = 0;  // 0: empty; no word is empty
    uint16_t count = 0;
  };
  std::vector<Slot> slots_;
  size_t mask_;
  size_t place_ = 0;
  uint32_t tag_ = 0;
};

}  // namespace nereid::token
