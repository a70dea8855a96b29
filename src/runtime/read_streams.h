// SPDX-License-Identifier: Apache-2.0
// Reads memory as fast as one thread can; compiled once per instruction set. Private to runtime/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu_info.h"

namespace nereid::runtime {

inline constexpr int64_t kReadBlock = 256;  // bytes read of a stream before the next one's turn

struct ReadStreamsParams {
  const std::byte* data = nullptr;  // 64-byte aligned
  int64_t bytes = 0;                // of one stream; a multiple of kReadBlock. The streams lie behind each other.
  int streams = 1;
  int64_t prefetch_bytes = 0;  // ahead of the reading; 0: none
};

// The exclusive or of all words, so that no compiler leaves a load out.
using ReadStreams = uint64_t(const ReadStreamsParams&);
ReadStreams* read_streams(Isa isa);

namespace baseline {
ReadStreams read_streams;
}
namespace avx2 {
ReadStreams read_streams;
}
namespace avx512 {
ReadStreams read_streams;
}

}  // namespace nereid::runtime
