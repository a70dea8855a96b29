// SPDX-License-Identifier: Apache-2.0
// For tests: a device whose cache entries say what they were computed from, so that a page shared wrongly shows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "llm/kv/cache.h"

namespace nereid::kv {

// An entry depends on the key, on its position and on every token up to its own, as real keys and values do.
inline uint64_t entry_of(uint64_t before, int32_t token) {
  uint64_t x = before ^ (static_cast<uint64_t>(static_cast<uint32_t>(token)) + 0x9e3779b97f4a7c15U);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  return x ^ (x >> 27);
}

inline uint64_t entry_of_key(std::string_view key) {
  uint64_t x = 1469598103934665603U;
  for (char c : key) x = (x ^ static_cast<uint8_t>(c)) * 1099511628211U;
  return x;
}

class TestDevice {
 public:
  explicit TestDevice(const CacheOptions& o)
      : page_(static_cast<size_t>(o.page_tokens)),
        device_(static_cast<size_t>(o.pages) * page_),
        host_(static_cast<size_t>(o.host_pages) * page_) {}

  void carry_out(const std::vector<Move>& moves) {
    for (const Move& m : moves) {
      const auto src = static_cast<size_t>(m.src) * page_, dst = static_cast<size_t>(m.dst) * page_;
      const auto& from = m.kind == MoveKind::kRestore ? host_ : device_;
      auto& to = m.kind == MoveKind::kOffload ? host_ : device_;
      for (size_t i = 0; i < static_cast<size_t>(m.tokens); ++i) to[dst + i] = from[src + i];
    }
  }
  uint64_t& entry(int32_t page, int32_t position) {
    return device_[static_cast<size_t>(page) * page_ + static_cast<size_t>(position) % page_];
  }
  uint64_t& entry(std::span<const int32_t> table, int32_t position) {
    return entry(table[static_cast<size_t>(position) / page_], position);
  }

 private:
  size_t page_;
  std::vector<uint64_t> device_, host_;
};

}  // namespace nereid::kv
