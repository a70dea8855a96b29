// SPDX-License-Identifier: Apache-2.0
// x86-64: registers of 16, 32 or 64 bytes.
#include "runtime/read_streams.h"

namespace nereid::runtime {

ReadStreams* read_streams(Isa isa) {
  if (isa >= Isa::avx512) return avx512::read_streams;
  return isa == Isa::avx2 ? avx2::read_streams : baseline::read_streams;
}

}  // namespace nereid::runtime
