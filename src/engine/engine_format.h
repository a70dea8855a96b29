// SPDX-License-Identifier: Apache-2.0
// The bytes of an engine file's first page, and the order of its sections. Private to engine/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/checksum.h"

namespace nereid::engine {

inline constexpr std::array<char, 8> kMagic = {'N', 'E', 'R', 'E', 'I', 'D', 'E', 'N'};
inline constexpr int64_t kHeaderBytes = 4096;
inline constexpr int64_t kSectionAlignment = 64;

// In this order, each at the next multiple of kSectionAlignment with zeros between.
enum SectionIndex : size_t { kWeights, kSums, kInfo, kGraph, kMetadata, kSectionCount };
inline constexpr std::array<std::string_view, kSectionCount> kSectionNames = {"weights", "weights.sums", "info",
                                                                              "graph", "metadata"};

struct SectionRecord {
  std::array<char, 16> name;  // zero padded
  int64_t offset, size;
  uint64_t hash;  // of the bytes; 0 for "weights", which have one a chunk in "weights.sums"
};
static_assert(sizeof(SectionRecord) == 40);

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t section_count;
  int64_t file_size;
  std::array<SectionRecord, kSectionCount> sections;
  std::array<std::byte, kHeaderBytes - 24 - 40 * kSectionCount - 8> reserved;  // zeros
  uint64_t hash;                                                               // of all the bytes before it
};
static_assert(sizeof(Header) == kHeaderBytes);

inline uint64_t header_hash(const Header& h) {
  return xxhash64(std::as_bytes(std::span(&h, 1)).first(offsetof(Header, hash)));
}

constexpr int64_t next_section(int64_t end) {
  return (end + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

}  // namespace nereid::engine
