// SPDX-License-Identifier: Apache-2.0
// Codes from the sums of two panels: the epilogues that layers of quantised networks have, prepared once for many
// tiles. What they compute is what finish_low_tile computes, to the bit.
#pragma once

#include "kernels/cpu/isa/low_output.h"
#include "kernels/cpu/isa/low_parts.h"

namespace nereid::kernels::NEREID_ISA {

// Whether a layer's codes can be made so; the residual are codes too.
inline bool makes_codes(const LowEpilogue& e) {
  return is_plain(e) && e.y_type == LowType::kU8 && is_bounded_above(e) && e.y_zero >= 0 && e.y_zero <= 255 &&
         (!e.residual || (is_plain_sum(e) && e.residual_type == LowType::kU8 && e.sum_scale != 0));
}
// For columns from `column` on, 17 to 32 of them; what lies beyond gets a scale of zero.
inline void prepare_codes(const LowEpilogue& e, int64_t column, int columns, LowCodes& c) {
  using namespace simd;
  const F32 unit = set1(e.residual ? e.sum_inverse_scale : e.y_inverse_scale);
  if (e.column_offset) std::memcpy(c.begin, e.column_offset + column, static_cast<size_t>(columns) * 4);
  for (int j = 0; j < 32; j += 16) {
    const int n = columns - j < 16 ? columns - j : 16;
    store(c.scale + j, mul(load_partial(e.scale + column + j, n), unit));
    store(c.bias + j, e.bias ? mul(load_partial(e.bias + column + j, n), unit) : zero());
  }
  const float most = e.act == Act::kClip ? e.beta * e.y_inverse_scale : 1000.0f;
  c.high = most < 1000.0f ? most : 1000.0f;
  c.zero = e.y_zero;
  // No sum is beyond what to_i32 is exact for, and the type's own bound is the lower one: nothing to compare with.
  c.bounded = c.high < static_cast<float>(255 - e.y_zero);
  for (int j = 0; j < 32; ++j)
    c.bounded = c.bounded || !(c.scale[j] > -0.25f && c.scale[j] < 0.25f && c.bias[j] > -1e9f && c.bias[j] < 1e9f);
  if (!e.residual) return;
  // The grid keeps the sum small; what the residual adds to it is as small as its scale.
  c.grid_low = static_cast<float>(e.sum_low - e.sum_zero);
  c.grid_high = static_cast<float>(e.sum_high - e.sum_zero);
  c.grid_scale = e.sum_scale * e.y_inverse_scale;
  c.residual_scale = e.residual_scale * e.y_inverse_scale;
  c.residual_shift = static_cast<float>(-e.residual_zero) * c.residual_scale;
  c.bounded = c.high < static_cast<float>(255 - e.y_zero) || !(c.grid_scale < 1e6f && c.residual_scale < 1e6f);
}

}  // namespace nereid::kernels::NEREID_ISA
