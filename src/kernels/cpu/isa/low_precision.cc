// SPDX-License-Identifier: Apache-2.0
// Low-precision products and convolutions by vectors alone.
#include "kernels/cpu/isa/low_driver.h"
#include "kernels/cpu/isa/low_parts.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

constexpr VectorKernel<Bf16Dot, simd::kPairRows1, simd::kPairRows2> kBf16;
constexpr VectorKernel<Int8Dot, simd::kQuadRows1, simd::kQuadRows2> kInt8;

}  // namespace

void low_gemm(const LowGemmParams& p, Worker& worker) {
  low_is_int8(p.a_type) ? drive_low_gemm<decltype(kInt8), true>(kInt8, p, worker)
                        : drive_low_gemm<decltype(kBf16), false>(kBf16, p, worker);
}

void low_conv(const LowConvParams& p, Worker& worker) {
  if (low_is_quads(p.shape, p.x_type)) return low_depthwise_quads(p, worker);
  if (low_conv_is_depthwise(p.shape)) return low_depthwise(p, worker);
  low_is_int8(p.x_type) ? drive_low_conv<decltype(kInt8), true>(kInt8, p, worker)
                        : drive_low_conv<decltype(kBf16), false>(kBf16, p, worker);
}

}  // namespace nereid::kernels::NEREID_ISA
