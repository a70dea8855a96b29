// SPDX-License-Identifier: Apache-2.0
// Many short byte strings in one block of memory, and an index from bytes to position.
//
// A vocabulary of 256k tokens is one allocation for the bytes, one for the offsets, one for the index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::token {

// 64 bits, good enough for tables of untrusted strings of bounded number; not for checksums.
uint64_t hash_bytes(std::string_view bytes);

class StringTable {
 public:
  void reserve(size_t strings, size_t bytes);
  void add(std::string_view bytes);
  size_t size() const { return offsets_.size() - 1; }
  bool empty() const { return size() == 0; }
  std::string_view operator[](size_t i) const {
    return std::string_view(bytes_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::vector<uint32_t> offsets_ = {0};
};

// bytes -> position in a StringTable, by open addressing. Holds no copy of the bytes: the table must outlive it.
class StringIndex {
 public:
  static constexpr int32_t kNone = -1;

  StringIndex() = default;
  // Room for `entries` insertions.
  StringIndex(const StringTable* table, size_t entries);

  // Enters table[id]. Of equal strings the one entered first is found.
  void insert(int32_t id);
  int32_t find(std::string_view bytes) const { return find(bytes, hash_bytes(bytes)); }
  int32_t find(std::string_view bytes, uint64_t hash) const;

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t id = kNone;
  };
  const StringTable* table_ = nullptr;
  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t mask_ = 0;
};

}  // namespace nereid::token
