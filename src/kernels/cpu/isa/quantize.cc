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
// How far numbers reach below zero and above, at least 0. Four of each side by side: one would wait for itself.
struct Reach {
  float below, above;
};
Reach reach_of(const float* p, int64_t n) {
  F32 least[4], most[4];
  unrolled<4>([&]<int j>() { least[j] = most[j] = simd::zero(); });
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
    unrolled<4>([&]<int j>() __attribute__((always_inline)) {
      const F32 v = simd::load(p + i + 16 * j);
      least[j] = simd::min(least[j], v);
      most[j] = simd::max(most[j], v);
    });
  for (; i < n; i += 16) {
    const F32 v = get(p + i, static_cast<int>(n - i < 16 ? n - i : 16));
    least[0] = simd::min(least[0], v);
    most[0] = simd::max(most[0], v);
  }
  const F32 low = simd::min(simd::min(least[0], least[1]), simd::min(least[2], least[3]));
  const F32 high = simd::max(simd::max(most[0], most[1]), simd::max(most[2], most[3]));
  return {simd::reduce_max(simd::sub(simd::zero(), low)), simd::reduce_max(high)};
}

void put_codes(F32 v, uint8_t* y, int n) {
  v = simd::min(simd::max(v, simd::zero()), simd::set1(255.0f));
  if (n == 16) return simd::store_u8(y, simd::to_i32(v));
  alignas(16) uint8_t t[16];
  simd::store_u8(t, simd::to_i32(v));
  for (int i = 0; i < n; ++i) y[i] = t[i];
}

// Whether fma rounds once: (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 then, else 0.
bool adds_exactly() {
  const F32 a = simd::set1(1.0f + 1.0f / 4096);
  return simd::reduce_max(simd::fma(a, a, simd::set1(-1.0f - 1.0f / 2048))) > 0;
}

// round(x / scale) + zero of numbers [begin, end). A quotient by multiplication, with its error multiplied back in:
// rounded as division rounds it, several times as fast, where products are added without rounding. Tiny scales have no
// finite inverse; quotients that are none need a bound, lest infinity less infinity become the lowest code.
template <bool kBounded>
void quantize(const DynamicQuantizeParams& p, float scale, float zero, int64_t begin, int64_t end) {
  const F32 divisor = simd::set1(scale), inverse = simd::set1(1.0f / scale), shift = simd::set1(zero);
  const bool divides = scale < 1e-30f || !adds_exactly();
  const auto quotient = [&](F32 x) __attribute__((always_inline)) {
    F32 guess = simd::mul(x, inverse);
    if constexpr (kBounded) guess = simd::min(simd::max(guess, simd::set1(-1e6f)), simd::set1(1e6f));
    return simd::fma(simd::fnma(guess, divisor, x), inverse, guess);
  };
  int64_t i = begin;
  if (!divides)
    for (; i + 16 <= end; i += 16) put_codes(simd::add(simd::round(quotient(simd::load(p.x + i))), shift), p.y + i, 16);
  for (; i < end; i += 16) {
    const int n = static_cast<int>(end - i < 16 ? end - i : 16);
    const F32 x = get(p.x + i, n), q = divides ? simd::div(x, divisor) : quotient(x);
    put_codes(simd::add(simd::round(q), shift), p.y + i, n);
  }
}

}  // namespace

void dynamic_quantize(const DynamicQuantizeParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.n);
  // Without scratch the scale and the zero point are given.
  if (p.scratch == nullptr) return quantize<true>(p, *p.scale, static_cast<float>(*p.zero), begin, end);
  auto* all = reinterpret_cast<float*>(p.scratch);
  float* found = all + 32 * worker.index();
  const Reach reach = reach_of(p.x + begin, end - begin);
  found[0] = reach.below;
  found[1] = reach.above;
  worker.barrier();
  float below = 0, most = 0;
  for (int w = 0; w < worker.count(); ++w) {
    below = all[32 * w] > below ? all[32 * w] : below;
    most = all[32 * w + 1] > most ? all[32 * w + 1] : most;
  }
  const float span = most + below, scale = span == 0 ? 1.0f : span / 255.0f;
  const float wanted = below / scale;
  const float zero = __builtin_nearbyintf(wanted > 255.0f ? 255.0f : wanted);
  quantize<false>(p, scale, zero, begin, end);
  if (worker.index() == 0) {
    *p.scale = scale;
    *p.zero = static_cast<uint8_t>(zero);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
