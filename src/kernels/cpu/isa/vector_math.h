// SPDX-License-Identifier: Apache-2.0
// exp and the activations on 16 lanes. exp: 2^n * p(r), |r| <= ln2 / 2, degree 6, relative error below 2e-7.
//
// NaN stays NaN: max(a, b) and min(a, b) give b where either is one, so the bound always comes first. Minus infinity
// would become -infinity * 0 in the activations, so their argument is kept finite where the result is zero anyway.
#pragma once

#include "kernels/cpu/linear.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

inline simd::F32 exp(simd::F32 x) {
  using namespace simd;
  x = simd::min(set1(88.0f), simd::max(set1(-87.0f), x));
  const F32 n = simd::round(mul(x, set1(1.44269504088896341f)));
  F32 r = fnma(n, set1(0.693359375f), x);
  r = fnma(n, set1(-2.12194440e-4f), r);
  F32 p = set1(1.9875691500e-4f);
  p = simd::fma(p, r, set1(1.3981999507e-3f));
  p = simd::fma(p, r, set1(8.3334519073e-3f));
  p = simd::fma(p, r, set1(4.1665795894e-2f));
  p = simd::fma(p, r, set1(1.6666665459e-1f));
  p = simd::fma(p, r, set1(5.0000001201e-1f));
  p = simd::fma(mul(p, r), r, add(r, set1(1.0f)));
  return scale_by_pow2(p, n);
}

// x / (1 + e^-x)
inline simd::F32 silu(simd::F32 x) {
  using namespace simd;
  x = simd::max(set1(-88.0f), x);
  return div(x, add(set1(1.0f), exp(sub(zero(), x))));
}

// tanh(x) = 1 - 2 / (e^2x + 1)
inline simd::F32 tanh(simd::F32 x) {
  using namespace simd;
  return sub(set1(1.0f), div(set1(2.0f), add(exp(add(x, x)), set1(1.0f))));
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
inline simd::F32 gelu_tanh(simd::F32 x) {
  using namespace simd;
  x = simd::max(set1(-1e30f), x);
  const F32 inner = mul(set1(0.7978845608028654f), simd::fma(mul(mul(x, x), x), set1(0.044715f), x));
  return mul(mul(set1(0.5f), x), add(set1(1.0f), tanh(inner)));
}

// erf by Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7): x/2 (1 + erf(x / sqrt 2))
inline simd::F32 gelu(simd::F32 x) {
  using namespace simd;
  x = simd::max(set1(-1e30f), x);
  const F32 z = mul(simd::abs(x), set1(0.70710678118654752f));
  const F32 t = div(set1(1.0f), simd::fma(set1(0.3275911f), z, set1(1.0f)));
  F32 p = set1(1.061405429f);
  p = simd::fma(p, t, set1(-1.453152027f));
  p = simd::fma(p, t, set1(1.421413741f));
  p = simd::fma(p, t, set1(-0.284496736f));
  p = simd::fma(p, t, set1(0.254829592f));
  const F32 tail = mul(mul(p, t), exp(sub(zero(), mul(z, z))));  // 1 - erf(z)
  // x >= 0: x (1 - tail/2); x < 0: x tail/2. With |x|: x/2 + |x|/2 (1 - tail).
  return simd::fma(mul(set1(0.5f), simd::abs(x)), sub(set1(1.0f), tail), mul(set1(0.5f), x));
}

inline simd::F32 activate(Activation a, simd::F32 x) {
  switch (a) {
    case Activation::kNone:
      return x;
    case Activation::kSilu:
      return silu(x);
    case Activation::kGelu:
      return gelu(x);
    case Activation::kGeluTanh:
      return gelu_tanh(x);
    case Activation::kRelu:
      return simd::max(simd::zero(), x);
  }
  return x;
}

}  // namespace nereid::kernels::NEREID_ISA
