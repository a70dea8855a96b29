// SPDX-License-Identifier: Apache-2.0
// Quantising by the span of the numbers: smallest and largest of every worker's share, then all of it.
#include "kernels/cpu/quantize.h"

#include "kernels/cpu/isa_kernels.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

F32 get(const float* p, int n) {
  return n == 16 ? simd::load(p) : simd::load_partial(p, n);
}
float minus_least(const float* p, int64_t n) {
  F32 most = simd::zero();
  for (int64_t i = 0; i < n; i += 16)
    most = simd::max(most, simd::sub(simd::zero(), get(p + i, static_cast<int>(n - i < 16 ? n - i : 16))));
  return simd::reduce_max(most);
}
float largest(const float* p, int64_t n) {
  F32 most = simd::zero();
  for (int64_t i = 0; i < n; i += 16) most = simd::max(most, get(p + i, static_cast<int>(n - i < 16 ? n - i : 16)));
  return simd::reduce_max(most);
}

void put_codes(F32 v, uint8_t* y, int n) {
  v = simd::min(simd::max(v, simd::zero()), simd::set1(255.0f));
  if (n == 16) return simd::store_u8(y, simd::to_i32(v));
  alignas(16) uint8_t t[16];
  simd::store_u8(t, simd::to_i32(v));
  for (int i = 0; i < n; ++i) y[i] = t[i];
}

}  // namespace

void dynamic_quantize(const DynamicQuantizeParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.n);
  auto* all = reinterpret_cast<float*>(p.scratch);
  float* found = all + 32 * worker.index();
  found[0] = minus_least(p.x + begin, end - begin);
  found[1] = largest(p.x + begin, end - begin);
  worker.barrier();
  float below = 0, most = 0;
  for (int w = 0; w < worker.count(); ++w) {
    below = all[32 * w] > below ? all[32 * w] : below;
    most = all[32 * w + 1] > most ? all[32 * w + 1] : most;
  }
  const float span = most + below, scale = span == 0 ? 1.0f : span / 255.0f;
  const float wanted = below / scale;
  const float zero = __builtin_nearbyintf(wanted > 255.0f ? 255.0f : wanted);
  const F32 divisor = simd::set1(scale), inverse = simd::set1(1.0f / scale), shift = simd::set1(zero);
  // A quotient by multiplication, with its error multiplied back in: rounded as division rounds it, several times as
  // fast. Tiny scales have no finite inverse.
  const bool divides = scale < 1e-30f;
  for (int64_t i = begin; i < end; i += 16) {
    const int n = static_cast<int>(end - i < 16 ? end - i : 16);
    const F32 x = get(p.x + i, n), guess = simd::mul(x, inverse);
    const F32 q = divides ? simd::div(x, divisor) : simd::fma(simd::fnma(guess, divisor, x), inverse, guess);
    put_codes(simd::add(simd::round(q), shift), p.y + i, n);
  }
  if (worker.index() == 0) {
    *p.scale = scale;
    *p.zero = static_cast<uint8_t>(zero);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
