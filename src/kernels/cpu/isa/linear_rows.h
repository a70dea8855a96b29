// SPDX-License-Identifier: Apache-2.0
// Activation rows made ready for a linear kernel: normalised if asked, quantised to int8 where the weights are codes.
#pragma once

#include <cstring>

#include "kernels/cpu/linear.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

// Prepared rows of all tokens. Quantised ones lie in blocks of `block` neighbouring tokens, so that the inner loops
// find token m of a block at constant distances:
//   codes  [tokens / block][padded columns / 32][block][32]    int8
//   scales [tokens / block][padded columns / 32][block]        one for 32 columns
//   sums   [tokens / block][padded columns / group][block]     scale * sum of the group's codes
struct Rows {
  const float* x = nullptr;  // floats (normalised), for float weights: [tokens, x_stride]
  int64_t x_stride = 0;
  int64_t block = 1;  // tokens; kTileTokens at most 16
  int64_t padded = 0, group = 32;
  int8_t* codes = nullptr;
  float* scales = nullptr;
  float* sums = nullptr;

  // A token's first element of each; blocks follow each other.
  int8_t* codes_of(int64_t t) const { return codes + t / block * block * padded + t % block * 32; }
  float* scales_of(int64_t t) const { return scales + t / block * block * (padded / 32) + t % block; }
  float* sums_of(int64_t t) const { return sums + t / block * block * (padded / group) + t % block; }
};
inline constexpr int64_t kBlockTokens = 16;

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

// Quantises token t's row of n columns, padded with zeros.
inline void quantize_row(const float* x, int64_t n, const Rows& rows, int64_t t) {
  using namespace simd;
  int8_t* codes = rows.codes_of(t);
  float* scales = rows.scales_of(t);
  float* sums = rows.sums_of(t);
  for (int64_t c = 0; c < rows.padded; c += 32, codes += 32 * rows.block, scales += rows.block) {
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
    store_i8(codes, qlo);
    store_i8(codes + 16, qhi);
    *scales = scale;
    if (rows.group == 32) {
      *sums = scale * static_cast<float>(ireduce_add(iadd(qlo, qhi)));
      sums += rows.block;
    } else {
      sums[0] = scale * static_cast<float>(ireduce_add(qlo));
      sums[rows.block] = scale * static_cast<float>(ireduce_add(qhi));
      sums += 2 * rows.block;
    }
  }
}

}  // namespace nereid::kernels::NEREID_ISA
