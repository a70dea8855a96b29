// SPDX-License-Identifier: Apache-2.0
// Functions of elementwise programs beyond vector_math.h: whole ranges, infinities and NaN included.
//
// The polynomials are least-maximum fits (Lawson's method, f64): log(1 + f) = f - f^2/2 + f^3 p(f) on
// [sqrt(1/2) - 1, sqrt(2) - 1] within 6e-9, erf(x)/x in x^2 on [0, 0.85^2] within 6e-9.
#pragma once

#include "kernels/cpu/isa/activation.h"

namespace nereid::kernels::NEREID_ISA {

// Relative error below 2e-7; results below 2^-126 are zero.
inline simd::F32 exp_whole(simd::F32 x) {
  using namespace simd;
  const F32 top = set1(88.7228394f), bottom = set1(-87.3365448f);
  const F32 y = simd::min(top, simd::max(bottom, x));
  const F32 n = simd::round(mul(y, set1(1.44269504088896341f)));
  F32 r = fnma(n, set1(0.693359375f), y);
  r = fnma(n, set1(-2.12194440e-4f), r);
  F32 p = set1(1.9875691500e-4f);
  p = simd::fma(p, r, set1(1.3981999507e-3f));
  p = simd::fma(p, r, set1(8.3334519073e-3f));
  p = simd::fma(p, r, set1(4.1665795894e-2f));
  p = simd::fma(p, r, set1(1.6666665459e-1f));
  p = simd::fma(p, r, set1(5.0000001201e-1f));
  p = simd::fma(mul(p, r), r, add(r, set1(1.0f)));
  const F32 half = simd::floor(mul(n, set1(0.5f)));  // 2^128 in two steps
  p = scale_by_pow2(scale_by_pow2(p, half), sub(n, half));
  p = select(less(top, x), set1(__builtin_huge_valf()), p);
  return select(less(x, bottom), zero(), p);
}

// Relative error below 2e-7; log(0) = -infinity, NaN below.
inline simd::F32 log_whole(simd::F32 x) {
  using namespace simd;
  const Mask tiny = less(x, set1(1.17549435e-38f));
  const F32 a = select(tiny, mul(x, set1(8388608.0f)), x);
  F32 e = simd::exponent(a), m = simd::mantissa(a);
  e = select(tiny, sub(e, set1(23.0f)), e);
  const Mask upper = less(set1(1.41421356f), m);
  m = select(upper, mul(m, set1(0.5f)), m);
  e = select(upper, add(e, set1(1.0f)), e);
  const F32 f = sub(m, set1(1.0f));
  F32 p = set1(-0.07634474337100983f);
  p = simd::fma(p, f, set1(0.12761567533016205f));
  p = simd::fma(p, f, set1(-0.13160187005996704f));
  p = simd::fma(p, f, set1(0.14201758801937103f));
  p = simd::fma(p, f, set1(-0.16623356938362122f));
  p = simd::fma(p, f, set1(0.20001226663589478f));
  p = simd::fma(p, f, set1(-0.2500081956386566f));
  p = simd::fma(p, f, set1(0.3333333134651184f));
  const F32 square = mul(f, f);
  F32 y = mul(mul(p, f), square);
  y = simd::fma(e, set1(-2.12194440e-4f), y);
  y = simd::fma(square, set1(-0.5f), y);
  y = simd::fma(e, set1(0.693359375f), add(f, y));
  const F32 infinity = set1(__builtin_huge_valf());
  y = select(equal(x, infinity), infinity, y);
  y = select(equal(x, zero()), sub(zero(), infinity), y);
  y = select(less(x, zero()), set1(__builtin_nanf("")), y);
  return select(equal(x, x), y, x);
}

// Absolute error below 2e-7, relative below 2e-7 for |x| < 0.85. Beyond: Abramowitz and Stegun 7.1.26.
inline simd::F32 erf(simd::F32 x) {
  using namespace simd;
  const F32 z = simd::abs(x), square = mul(x, x);
  F32 near = set1(-0.0006315128412097692f);
  near = simd::fma(near, square, set1(0.005051094572991133f));
  near = simd::fma(near, square, set1(-0.02680254727602005f));
  near = simd::fma(near, square, set1(0.11282717436552048f));
  near = simd::fma(near, square, set1(-0.3761257231235504f));
  near = simd::fma(near, square, set1(1.1283791065216064f));
  const F32 t = div(set1(1.0f), simd::fma(set1(0.3275911f), z, set1(1.0f)));
  F32 p = set1(1.061405429f);
  p = simd::fma(p, t, set1(-1.453152027f));
  p = simd::fma(p, t, set1(1.421413741f));
  p = simd::fma(p, t, set1(-0.284496736f));
  p = simd::fma(p, t, set1(0.254829592f));
  const F32 tail = mul(mul(p, t), exp(sub(zero(), square)));
  const F32 far = sub(set1(1.0f), tail);
  const F32 y = select(less(z, set1(0.85f)), mul(near, z), far);
  const F32 signed_y = select(less(x, zero()), sub(zero(), y), y);
  return select(equal(x, x), signed_y, x);
}

// max(x, 0) + log(1 + e^-|x|), the logarithm as log(w) u / (w - 1) with w = 1 + u.
inline simd::F32 softplus(simd::F32 x) {
  using namespace simd;
  const F32 u = exp_whole(sub(zero(), simd::abs(x)));
  const F32 w = add(set1(1.0f), u), d = sub(w, set1(1.0f));
  const F32 tail = select(equal(d, zero()), u, mul(log_whole(w), div(u, d)));
  return add(simd::max(zero(), x), tail);
}

// One lane at a time, for what is rare in compiled networks: as the C library has it.
template <typename F>
[[gnu::noinline]] inline simd::F32 by_lane(simd::F32 a, simd::F32 b, F f) {
  float x[16], y[16];
  simd::store(x, a);
  simd::store(y, b);
  for (int i = 0; i < 16; ++i) x[i] = f(x[i], y[i]);
  return simd::load(x);
}

}  // namespace nereid::kernels::NEREID_ISA
