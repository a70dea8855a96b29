// SPDX-License-Identifier: Apache-2.0
// Low-precision products where AVX512_BF16 multiplies pairs; 8-bit ones are avx512's.
#include "kernels/cpu/isa/low_driver.h"
#include "kernels/cpu/isa/low_parts.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::avx512bf16 {
namespace {

constexpr VectorKernel<Bf16Dot, simd::kPairRows1, simd::kPairRows2> kBf16;

}  // namespace

void low_gemm(const LowGemmParams& p, Worker& worker) {
  low_is_int8(p.a_type) ? avx512::low_gemm(p, worker) : drive_low_gemm<decltype(kBf16), false>(kBf16, p, worker);
}

void low_conv(const LowConvParams& p, Worker& worker) {
  if (low_is_int8(p.x_type)) return avx512::low_conv(p, worker);
  if (low_conv_is_depthwise(p.shape)) return low_depthwise(p, worker);
  drive_low_conv<decltype(kBf16), false>(kBf16, p, worker);
}

}  // namespace nereid::kernels::avx512bf16
