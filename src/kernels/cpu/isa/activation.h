// SPDX-License-Identifier: Apache-2.0
// The activations of epilogue.h on 16 lanes. NaN stays NaN (see vector_math.h).
#pragma once

#include "kernels/cpu/epilogue.h"
#include "kernels/cpu/isa/vector_math.h"

namespace nereid::kernels::NEREID_ISA {

// 1 / (1 + e^-x)
inline simd::F32 sigmoid(simd::F32 x) {
  using namespace simd;
  return div(set1(1.0f), add(set1(1.0f), exp(sub(zero(), x))));
}

// x below zero where it counts, else 0: e^x - 1 by exp where it is exact enough, by its series near zero.
inline simd::F32 expm1_negative(simd::F32 x) {
  using namespace simd;
  const F32 n = simd::min(zero(), x);
  const F32 near = simd::max(set1(-0.25f), n);
  F32 p = set1(1.0f / 5040);
  p = simd::fma(p, near, set1(1.0f / 720));
  p = simd::fma(p, near, set1(1.0f / 120));
  p = simd::fma(p, near, set1(1.0f / 24));
  p = simd::fma(p, near, set1(1.0f / 6));
  p = simd::fma(p, near, set1(0.5f));
  p = simd::fma(mul(p, near), near, near);
  // e^n - 1 = e^(n - near) (p + 1) - 1, and n - near is 0 near zero
  const F32 e = exp(sub(n, near));
  return simd::fma(e, p, sub(e, set1(1.0f)));
}

// tanh(|x|) = -e / (2 + e), e = e^-2|x| - 1: relative error below 3e-7 also near zero.
inline simd::F32 tanh_exact(simd::F32 x) {
  using namespace simd;
  const F32 e = expm1_negative(mul(set1(-2.0f), simd::abs(x)));
  const F32 t = div(sub(zero(), e), add(set1(2.0f), e));
  return select(less(x, zero()), sub(zero(), t), t);
}

// tanh(log(1 + e^x)) = (u^2 + 2u) / (u^2 + 2u + 2), u = e^x; beyond 20 it is 1
inline simd::F32 mish(simd::F32 x) {
  using namespace simd;
  const F32 u = exp(simd::min(set1(20.0f), simd::max(set1(-80.0f), x)));
  const F32 w = mul(u, add(u, set1(2.0f)));
  return mul(x, div(w, add(w, set1(2.0f))));
}

inline simd::F32 activate(Act act, float alpha, float beta, simd::F32 x) {
  using namespace simd;
  switch (act) {
    case Act::kNone:
      return x;
    case Act::kRelu:
      return simd::max(zero(), x);
    case Act::kClip:
      return simd::min(set1(beta), simd::max(set1(alpha), x));
    case Act::kLeakyRelu:
      return simd::fma(set1(alpha), simd::min(zero(), x), simd::max(zero(), x));
    case Act::kSigmoid:
      return sigmoid(x);
    case Act::kTanh:
      return tanh_exact(x);
    case Act::kSilu: {
      const F32 s = simd::max(set1(-88.0f), mul(set1(alpha), x));
      return div(simd::max(set1(-1e30f), x), add(set1(1.0f), exp(sub(zero(), s))));
    }
    case Act::kGelu:
      return gelu(x);
    case Act::kGeluTanh:
      return gelu_tanh(x);
    case Act::kHardSigmoid:
      return simd::min(set1(1.0f), simd::max(zero(), simd::fma(set1(alpha), x, set1(beta))));
    case Act::kHardSwish:
      return mul(x, simd::min(set1(1.0f), simd::max(zero(), simd::fma(set1(alpha), x, set1(beta)))));
    case Act::kElu:
      return simd::fma(set1(alpha), expm1_negative(x), simd::max(zero(), x));
    case Act::kMish:
      return mish(x);
  }
  return x;
}

// With the scale and the shift behind it.
inline simd::F32 activate(const Epilogue& e, simd::F32 x) {
  const simd::F32 v = activate(e.act, e.alpha, e.beta, x);
  return e.scale == 1 && e.shift == 0 ? v : simd::fma(v, simd::set1(e.scale), simd::set1(e.shift));
}

// Activations that are a clamp: no pass of their own.
constexpr bool is_clamp(Act act) {
  return act == Act::kNone || act == Act::kRelu || act == Act::kClip;
}
constexpr bool is_clamp(const Epilogue& e) {
  return is_clamp(e.act) && e.scale == 1 && e.shift == 0;
}
constexpr float clamp_low(const Epilogue& e) {
  return e.act == Act::kRelu ? 0.0f : e.act == Act::kClip ? e.alpha : -__builtin_huge_valf();
}
constexpr float clamp_high(const Epilogue& e) {
  return e.act == Act::kClip ? e.beta : __builtin_huge_valf();
}

}  // namespace nereid::kernels::NEREID_ISA
