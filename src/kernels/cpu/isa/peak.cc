// SPDX-License-Identifier: Apache-2.0
// The register-only loop behind "share of the peak".
#include "kernels/cpu/isa_kernels.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

void peak(const PeakParams& p, Worker& worker) {
  using namespace simd;
  constexpr int kChains = simd::kGemmRows1 < kPeakChains ? 6 : kPeakChains;  // more would not stay in registers
  F32 sum[kChains];
  unrolled<kChains>([&]<int i>() { sum[i] = set1(1.0f + i); });
  F32 x = set1(0.999f), y = set1(0.001f);
  for (int64_t r = 0; r < p.rounds * (kPeakChains / kChains); ++r)
    unrolled<kChains>([&]<int i>() { sum[i] = simd::fma(sum[i], x, y); });
  F32 total = zero();
  unrolled<kChains>([&]<int i>() { total = simd::add(total, sum[i]); });
  store(p.sink + 16 * worker.index(), total);
}

}  // namespace nereid::kernels::NEREID_ISA
