// SPDX-License-Identifier: Apache-2.0
// attention over a cache of codes of 8 bits.
#include "kernels/cpu/isa/attention_block.h"

namespace nereid::kernels::NEREID_ISA {

void attention_i8(const AttentionParams& p, Worker& worker) {
  attend<CacheI8>(p, worker);
}

}  // namespace nereid::kernels::NEREID_ISA
