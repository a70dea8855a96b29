// SPDX-License-Identifier: Apache-2.0
// Open addressing with linear probing; a tag of 32 hash bits saves nearly every needless comparison.
#include "llm/token/string_table.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace nereid::token {
namespace {

constexpr uint64_t kMulA = 0x9E3779B97F4A7C15u;
constexpr uint64_t kMulB = 0xD6E8FEB86659FD93u;

// Both halves of a 64 x 64 bit product folded together.
uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t load(const char* p, size_t n) {
  uint64_t word = 0;
  std::memcpy(&word, p, n);
  return word;
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t h = kMulA ^ n;
  for (; n > 8; p += 8, n -= 8) h = mix(h ^ load(p, 8), kMulB);
  return mix(h ^ load(p, n), kMulA);
}

void StringTable::reserve(size_t strings, size_t bytes) {
  offsets_.reserve(strings + 1);
  bytes_.reserve(bytes);
}

void StringTable::add(std::string_view bytes) {
  NEREID_CHECK(bytes_.size() + bytes.size() <= UINT32_MAX);
  bytes_.append(bytes);
  offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
}

StringIndex::StringIndex(const StringTable* table, size_t entries)
    : table_(table), slots_(std::bit_ceil(entries * 2 + 2)), mask_(slots_.size() - 1) {}

void StringIndex::insert(int32_t id) {
  const std::string_view bytes = (*table_)[static_cast<size_t>(id)];
  const uint64_t hash = hash_bytes(bytes);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  size_t i = hash & mask_;
  for (; slots_[i].id != kNone; i = (i + 1) & mask_) {
    if (slots_[i].tag == tag && (*table_)[static_cast<size_t>(slots_[i].id)] == bytes) return;
  }
  slots_[i] = {tag, id};
}

int32_t StringIndex::find(std::string_view bytes, uint64_t hash) const {
  if (slots_.empty()) return kNone;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (size_t i = hash & mask_; slots_[i].id != kNone; i = (i + 1) & mask_) {
    if (slots_[i].tag == tag && (*table_)[static_cast<size_t>(slots_[i].id)] == bytes) return slots_[i].id;
  }
  return kNone;
}

}  // namespace nereid::token
