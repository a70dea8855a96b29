// SPDX-License-Identifier: Apache-2.0
// Codes from the sums of two panels: the epilogues that layers of quantised networks have, prepared once for many
// tiles. What they compute is what finish_low_tile computes, to the bit.
#pragma once

#include "kernels/cpu/isa/low_output.h"

namespace nereid::kernels::NEREID_ISA {

struct LowCodes {
  // Of 32 columns: what a sum begins with, and what makes it a number in units of the result's scale (or the grid's).
  alignas(64) int32_t begin[32];
  alignas(64) float scale[32];
  alignas(64) float bias[32];
  CodeSum sum = {};
  CodeBounds bounds;
  std::byte* y;  // row 0 of the tile, first column
  int64_t y_stride;
  const std::byte* residual = nullptr;
  int64_t residual_stride;
};

// Of a tile's sums [rows][32].
template <bool kResidual>
[[gnu::noinline]] void put_codes(const LowCodes& c, const std::byte* sums, int64_t rows) {
  using namespace simd;
  const I32 begin[2] = {load_i32(c.begin), load_i32(c.begin + 16)};
  const F32 scale[2] = {load(c.scale), load(c.scale + 16)}, bias[2] = {load(c.bias), load(c.bias + 16)};
  const CodeBounds bounds = c.bounds;
  const CodeSum with = c.sum;
  std::byte* y = c.y;
  const std::byte* r = c.residual;
  for (int64_t i = 0; i < rows; ++i, sums += 128, y += c.y_stride) {
    unrolled<2>([&]<int j>() __attribute__((always_inline)) {
      const I32 sum = iadd(load_i32(reinterpret_cast<const int32_t*>(sums) + 16 * j), begin[j]);
      F32 v = simd::fma(to_f32(sum), scale[j], bias[j]);
      if constexpr (kResidual) v = add_code(with, v, load_u8(reinterpret_cast<const uint8_t*>(r) + 16 * j));
      put_code(bounds, y + 16 * j, v);
    });
    if constexpr (kResidual) r += c.residual_stride;
  }
}

// Whether a layer's codes can be made so; the residual are codes too.
inline bool makes_codes(const LowEpilogue& e) {
  return is_plain(e) && e.y_type == LowType::kU8 && is_bounded_above(e) &&
         (!e.residual || (is_plain_sum(e) && e.residual_type == LowType::kU8 && e.sum_scale != 0));
}
// For columns from `column` on.
inline void prepare_codes(const LowEpilogue& e, int64_t column, LowCodes& c) {
  using namespace simd;
  const F32 unit = set1(e.residual ? e.sum_inverse_scale : e.y_inverse_scale);
  for (int j = 0; j < 32; j += 16) {
    store_i32(c.begin + j, e.column_offset ? load_i32(e.column_offset + column + j) : izero());
    store(c.scale + j, mul(load(e.scale + column + j), unit));
    store(c.bias + j, e.bias ? mul(load(e.bias + column + j), unit) : zero());
  }
  c.bounds = code_bounds(e);
  if (e.residual) c.sum = code_sum(e, e.y_inverse_scale);
}

}  // namespace nereid::kernels::NEREID_ISA
