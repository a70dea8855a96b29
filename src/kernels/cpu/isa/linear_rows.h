// SPDX-License-Identifier: Apache-2.0
// Activation rows made ready for a linear kernel: normalised if asked, quantised to int8 where the weights are codes.
#pragma once

#include <cstring>

#include "kernels/cpu/linear.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

// Prepared rows of all tokens. Codes and sums are per column group of the weight (16 or 32), scales per 32 columns.
struct Rows {
  const float* x = nullptr;  // floats (normalised), for float weights
  int64_t x_stride = 0;
  const int8_t* codes = nullptr;
  int64_t code_stride = 0;
  const float* scales = nullptr;
  int64_t scale_stride = 0;
  const float* sums = nullptr;  // scale * sum of codes
  int64_t sum_stride = 0;
};

// Root mean square normalisation of one row; sums in 16 lanes, in column order.
inline void rms_norm_row(const float* x, const float* weight, float eps, int64_t n, float* y) {
  using namespace simd;
  F32 sum = zero();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const F32 v = load(x + i);
    sum = simd::fma(v, v, sum);
  }
  const int rest = static_cast<int>(n - i);
  if (rest) {
    const F32 v = load_partial(x + i, rest);
    sum = simd::fma(v, v, sum);
  }
  const float mean = reduce_add(sum) / static_cast<float>(n);
  const F32 inv = div(set1(1.0f), simd::sqrt(set1(mean + eps)));
  for (i = 0; i + 16 <= n; i += 16) store(y + i, mul(mul(load(x + i), inv), load(weight + i)));
  if (rest) store_partial(y + i, mul(mul(load_partial(x + i, rest), inv), load_partial(weight + i, rest)), rest);
}

// Quantises one row of n columns, padded with zeros to a multiple of 64. `group` is 16 or 32.
inline void quantize_row(const float* x, int64_t n, int64_t padded, int group, int8_t* codes, float* scales,
                         float* sums) {
  using namespace simd;
  for (int64_t c = 0; c < padded; c += 32) {
    const int64_t left = n - c;
    F32 lo, hi;
    if (left >= 32) [[likely]] {
      lo = load(x + c);
      hi = load(x + c + 16);
    } else {
      const int a = static_cast<int>(left < 0 ? 0 : left < 16 ? left : 16);
      const int b = static_cast<int>(left < 16 ? 0 : left - 16);
      lo = a ? load_partial(x + c, a) : zero();
      hi = b ? load_partial(x + c + 16, b) : zero();
    }
    const float amax = reduce_max(simd::max(simd::abs(lo), simd::abs(hi)));
    const float scale = amax / 127.0f;
    const F32 inverse = set1(amax > 0 ? 127.0f / amax : 0.0f);
    const I32 qlo = to_i32(mul(lo, inverse));
    const I32 qhi = to_i32(mul(hi, inverse));
    store_i8(codes + c, qlo);
    store_i8(codes + c + 16, qhi);
    scales[c / 32] = scale;
    if (group == 32) {
      sums[c / 32] = scale * static_cast<float>(ireduce_add(iadd(qlo, qhi)));
    } else {
      sums[c / 16] = scale * static_cast<float>(ireduce_add(qlo));
      sums[c / 16 + 1] = scale * static_cast<float>(ireduce_add(qhi));
    }
  }
}

}  // namespace nereid::kernels::NEREID_ISA
