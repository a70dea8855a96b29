// SPDX-License-Identifier: Apache-2.0
// Four independent sums of 64 bytes each: more loads in flight than a core can keep, whatever its register width.
#include "runtime/read_streams.h"

namespace nereid::runtime::NEREID_ISA {
namespace {

// Compilers split it into the widest registers that the instruction set has.
using Line = uint64_t __attribute__((vector_size(64)));
constexpr int64_t kLines = kReadBlock / sizeof(Line);
constexpr int64_t kCacheLine = 64;

template <bool kPrefetch>
uint64_t read(const ReadStreamsParams& p) {
  Line sums[kLines] = {};
  for (int64_t at = 0; at < p.bytes; at += kReadBlock) {
    for (int s = 0; s < p.streams; ++s) {
      const std::byte* block = p.data + s * p.bytes + at;
      if constexpr (kPrefetch)
        for (int64_t line = 0; line < kReadBlock; line += kCacheLine)
          __builtin_prefetch(block + p.prefetch_bytes + line);
      const Line* lines = reinterpret_cast<const Line*>(block);
      for (int64_t i = 0; i < kLines; ++i) sums[i] ^= lines[i];
    }
  }
  uint64_t all = 0;
  for (const Line& sum : sums)
    for (int i = 0; i < 8; ++i) all ^= sum[i];
  return all;
}

}  // namespace

uint64_t read_streams(const ReadStreamsParams& params) {
  return params.prefetch_bytes > 0 ? read<true>(params) : read<false>(params);
}

}  // namespace nereid::runtime::NEREID_ISA
