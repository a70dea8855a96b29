// SPDX-License-Identifier: Apache-2.0
// Sums of 32 columns to rows of codes, as LowCodes says. A source an instruction set includes this after its bytes.
#pragma once

#include "kernels/cpu/isa/low_parts.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {
namespace {

template <bool kResidual, bool kBounded, bool kBegun>
struct CodeRows {
  const LowCodes& c;
  simd::I32 begin[2];
  simd::F32 scale[2], bias[2], high, grid_low, grid_high, grid_scale, residual_scale, residual_shift;

  explicit CodeRows(const LowCodes& codes) : c(codes) {
    using namespace simd;
    for (int j = 0; j < 2; ++j) {
      begin[j] = load_i32(c.begin + 16 * j);
      scale[j] = load(c.scale + 16 * j);
      bias[j] = load(c.bias + 16 * j);
    }
    high = set1(c.high);
    grid_low = set1(c.grid_low);
    grid_high = set1(c.grid_high);
    grid_scale = set1(c.grid_scale);
    residual_scale = set1(c.residual_scale);
    residual_shift = set1(c.residual_shift);
  }
  // A code less its zero point.
  template <int j>
  [[gnu::always_inline]] simd::I32 code(const std::byte* sums, const std::byte* r) const {
    return from<j>(simd::load_i32(reinterpret_cast<const int32_t*>(sums) + 16 * j), r);
  }
  template <int j>
  [[gnu::always_inline]] simd::I32 from(simd::I32 sum, const std::byte* r) const {
    using namespace simd;
    if constexpr (!kBegun) sum = iadd(sum, begin[j]);
    F32 v = simd::fma(to_f32(sum), scale[j], bias[j]);
    if constexpr (kResidual) {
      const F32 late = load_u8(reinterpret_cast<const uint8_t*>(r) + 16 * j);
      v = simd::min(simd::max(simd::round(v), grid_low), grid_high);
      v = simd::fma(v, grid_scale, simd::fma(late, residual_scale, residual_shift));
    }
    if constexpr (kBounded) v = simd::min(high, v);
    return to_i32(v);
  }
  void put(const std::byte* sums, int64_t rows) const { put(sums, rows, c.y, c.residual); }
  // Of rows that begin at y, with residuals from r on.
  [[gnu::always_inline]] void put(const std::byte* sums, int64_t rows, std::byte* to, const std::byte* r) const {
    using namespace simd;
    auto* y = reinterpret_cast<uint8_t*>(to);
    const int64_t r_stride = kResidual ? c.residual_stride : 0;
    int64_t i = 0;
    for (; i + 2 <= rows; i += 2, sums += 256, y += 2 * c.y_stride, r += 2 * r_stride)
      store_code_rows(y, y + c.y_stride, code<0>(sums, r), code<1>(sums, r), code<0>(sums + 128, r + r_stride),
                      code<1>(sums + 128, r + r_stride), c.zero);
    if (i == rows) return;
    store_u8(y, iadd(code<0>(sums, r), iset1(c.zero)));
    store_u8(y + 16, iadd(code<1>(sums, r), iset1(c.zero)));
  }
};

}  // namespace
}  // namespace nereid::kernels::NEREID_ISA
