// SPDX-License-Identifier: Apache-2.0
// attention over a cache of f32, bf16 and 8-bit floats.
#include "kernels/cpu/isa/attention_block.h"

namespace nereid::kernels::NEREID_ISA {

void attention_f32(const AttentionParams& p, Worker& worker) {
  attend<CacheF32>(p, worker);
}

void attention_bf16(const AttentionParams& p, Worker& worker) {
  attend<CacheBF16>(p, worker);
}

void attention_f8(const AttentionParams& p, Worker& worker) {
  attend<CacheF8>(p, worker);
}

}  // namespace nereid::kernels::NEREID_ISA
