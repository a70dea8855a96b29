// SPDX-License-Identifier: Apache-2.0
// Sixteen-lane vectors as four 16-byte ones in the compiler's own vector types: SSE2 and NEON without intrinsics.
// The interface is described in simd/README.md.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/float_convert.h"
#include "kernels/cpu/simd/unrolled.h"

namespace nereid::kernels::baseline::simd {

typedef float V4f __attribute__((vector_size(16)));
typedef int32_t V4i __attribute__((vector_size(16)));

struct F32 {
  V4f v[4];
};
struct I32 {
  V4i v[4];
};
struct Bytes {
  uint8_t v[64];
};

inline constexpr int kTileTokens = 4;
inline constexpr int kDotTokens = 1;
// Pixels and rows of a depthwise convolution's tile.
inline constexpr int kDepthwisePixels = 2;
inline constexpr int kDepthwiseRows = 1;
inline constexpr int kGemmRows1 = 2;
inline constexpr int kGemmRows2 = 1;
inline constexpr int kGemmRows4 = 1;
inline constexpr int kCode8Zero = 128;

// r.v[i] = f(i) for the four quarters.
template <typename R, typename F>
inline R quarters(F f) {
  R r;
  for (int i = 0; i < 4; ++i) r.v[i] = f(i);
  return r;
}
// One lane at a time, for what the vector types lack.
template <typename F>
inline F32 lanes(const F32& a, F f) {
  float t[16];
  std::memcpy(t, a.v, 64);
  for (float& x : t) x = f(x);
  F32 r;
  std::memcpy(r.v, t, 64);
  return r;
}

inline F32 load(const float* p) {
  F32 r;
  std::memcpy(r.v, p, 64);
  return r;
}
inline void store(float* p, const F32& a) {
  std::memcpy(p, a.v, 64);
}
inline F32 load_partial(const float* p, int n) {
  F32 r = {};
  std::memcpy(r.v, p, static_cast<size_t>(n) * sizeof(float));
  return r;
}
inline void store_partial(float* p, const F32& a, int n) {
  std::memcpy(p, a.v, static_cast<size_t>(n) * sizeof(float));
}
inline F32 set1(float x) {
  return quarters<F32>([&](int) { return V4f{x, x, x, x}; });
}
inline F32 zero() {
  return {};
}
inline F32 add(const F32& a, const F32& b) {
  return quarters<F32>([&](int i) { return a.v[i] + b.v[i]; });
}
inline F32 sub(const F32& a, const F32& b) {
  return quarters<F32>([&](int i) { return a.v[i] - b.v[i]; });
}
inline F32 mul(const F32& a, const F32& b) {
  return quarters<F32>([&](int i) { return a.v[i] * b.v[i]; });
}
inline F32 div(const F32& a, const F32& b) {
  return quarters<F32>([&](int i) { return a.v[i] / b.v[i]; });
}
inline F32 max(const F32& a, const F32& b) {
  return quarters<F32>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline F32 min(const F32& a, const F32& b) {
  return quarters<F32>([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline F32 fma(const F32& a, const F32& b, const F32& c) {
  return quarters<F32>([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
}
inline F32 fnma(const F32& a, const F32& b, const F32& c) {
  return quarters<F32>([&](int i) { return c.v[i] - a.v[i] * b.v[i]; });
}
inline F32 abs(const F32& a) {
  return quarters<F32>([&](int i) { return a.v[i] < 0 ? -a.v[i] : a.v[i]; });
}
inline F32 sqrt(const F32& a) {
  return lanes(a, [](float x) { return __builtin_sqrtf(x); });
}
// Nearest, ties to even: adding and taking away 2^23 rounds any magnitude below it; those above are whole.
inline F32 round(const F32& a) {
  const V4f big = {8388608.0f, 8388608.0f, 8388608.0f, 8388608.0f};
  return quarters<F32>([&](int i) {
    const V4i sign = reinterpret_cast<V4i>(a.v[i]) & INT32_MIN;
    const V4f size = reinterpret_cast<V4f>(reinterpret_cast<V4i>(a.v[i]) ^ sign);
    const V4f whole = size < big ? (size + big) - big : size;
    return reinterpret_cast<V4f>(reinterpret_cast<V4i>(whole) | sign);
  });
}
inline float reduce_add(const F32& a) {
  const V4f s = (a.v[0] + a.v[1]) + (a.v[2] + a.v[3]);
  return (s[0] + s[1]) + (s[2] + s[3]);
}
inline float reduce_max(const F32& a) {
  const F32 m = max(a, F32{{a.v[1], a.v[0], a.v[3], a.v[2]}});
  const V4f s = m.v[0] > m.v[2] ? m.v[0] : m.v[2];
  const float lo = s[0] > s[1] ? s[0] : s[1];
  const float hi = s[2] > s[3] ? s[2] : s[3];
  return lo > hi ? lo : hi;
}
inline I32 to_i32(const F32& a) {
  const F32 r = round(a);
  return quarters<I32>([&](int i) { return __builtin_convertvector(r.v[i], V4i); });
}
// Adds n to the exponent field; the callers keep results in the normal range.
inline F32 scale_by_pow2(const F32& a, const F32& n) {
  const I32 e = to_i32(n);
  return quarters<F32>([&](int i) { return reinterpret_cast<V4f>(reinterpret_cast<V4i>(a.v[i]) + (e.v[i] << 23)); });
}

// The first n lanes, for loads and stores; the rest is zero, or untouched.
struct Lanes {
  int n;
};
inline Lanes first_lanes(int n) {
  return {n};
}
inline F32 load(const float* p, Lanes n) {
  return n.n == 16 ? load(p) : load_partial(p, n.n);
}
inline void store(float* p, const F32& a, Lanes n) {
  n.n == 16 ? store(p, a) : store_partial(p, a, n.n);
}

// Comparisons are false where either side is NaN.
struct Mask {
  V4i v[4];
};
inline Mask less(const F32& a, const F32& b) {
  return quarters<Mask>([&](int i) { return a.v[i] < b.v[i]; });
}
inline Mask less_equal(const F32& a, const F32& b) {
  return quarters<Mask>([&](int i) { return a.v[i] <= b.v[i]; });
}
inline Mask equal(const F32& a, const F32& b) {
  return quarters<Mask>([&](int i) { return a.v[i] == b.v[i]; });
}
inline F32 select(const Mask& m, const F32& yes, const F32& no) {
  return quarters<F32>([&](int i) { return m.v[i] ? yes.v[i] : no.v[i]; });
}
inline F32 floor(const F32& a) {
  return lanes(a, [](float x) { return __builtin_floorf(x); });
}
// Normal a > 0 is mantissa * 2^exponent, the mantissa in [1, 2).
inline F32 exponent(const F32& a) {
  return quarters<F32>(
      [&](int i) { return __builtin_convertvector((reinterpret_cast<V4i>(a.v[i]) >> 23) - 127, V4f); });
}
inline F32 mantissa(const F32& a) {
  return quarters<F32>(
      [&](int i) { return reinterpret_cast<V4f>((reinterpret_cast<V4i>(a.v[i]) & 0x007fffff) | 0x3f800000); });
}

// dst[j][i] = src[i][j] for i < n, 0 beyond; 16 x 16 numbers, strides in elements.
inline void transpose16(const float* src, int64_t src_stride, int n, float* dst, int64_t dst_stride) {
  for (int j = 0; j < 16; ++j)
    for (int i = 0; i < 16; ++i) dst[j * dst_stride + i] = i < n ? src[i * src_stride + j] : 0;
}

inline F32 load_f16(const uint16_t* p) {
  float t[16];
  for (int i = 0; i < 16; ++i) t[i] = f16_to_f32(p[i]);
  return load(t);
}
inline void store_f16(uint16_t* p, const F32& a) {
  float t[16];
  store(t, a);
  for (int i = 0; i < 16; ++i) p[i] = f32_to_f16(t[i]);
}
inline F32 load_bf16(const uint16_t* p) {
  float t[16];
  for (int i = 0; i < 16; ++i) t[i] = bf16_to_f32(p[i]);
  return load(t);
}

inline I32 izero() {
  return {};
}
inline I32 iset1(int32_t x) {
  return quarters<I32>([&](int) { return V4i{x, x, x, x}; });
}
inline I32 iadd(const I32& a, const I32& b) {
  return quarters<I32>([&](int i) { return a.v[i] + b.v[i]; });
}
inline int32_t ireduce_add(const I32& a) {
  const V4i s = (a.v[0] + a.v[1]) + (a.v[2] + a.v[3]);
  return (s[0] + s[1]) + (s[2] + s[3]);
}
inline F32 to_f32(const I32& a) {
  return quarters<F32>([&](int i) { return __builtin_convertvector(a.v[i], V4f); });
}
inline void store_i8(int8_t* p, const I32& a) {
  int32_t t[16];
  std::memcpy(t, a.v, 64);
  for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(t[i] < -128 ? -128 : t[i] > 127 ? 127 : t[i]);
}

inline void store_bf16(uint16_t* p, const F32& a) {
  float t[16];
  store(t, a);
  for (int i = 0; i < 16; ++i) p[i] = f32_to_bf16(t[i]);
}
inline I32 load_i32(const int32_t* p) {
  I32 r;
  std::memcpy(r.v, p, 64);
  return r;
}
inline void store_i32(int32_t* p, const I32& a) {
  std::memcpy(p, a.v, 64);
}
inline F32 load_u8(const uint8_t* p) {
  float t[16];
  for (int i = 0; i < 16; ++i) t[i] = p[i];
  return load(t);
}
inline F32 load_s8(const int8_t* p) {
  float t[16];
  for (int i = 0; i < 16; ++i) t[i] = p[i];
  return load(t);
}
inline void store_u8(uint8_t* p, const I32& a) {
  int32_t t[16];
  std::memcpy(t, a.v, 64);
  for (int i = 0; i < 16; ++i) p[i] = static_cast<uint8_t>(t[i] < 0 ? 0 : t[i] > 255 ? 255 : t[i]);
}

// Products of bf16 pairs: 16 columns of two neighbours of k against one pair of a row.
struct Pair {
  float low, high;
};
struct PairBlock {
  V4i v[4];
};
inline constexpr int kPairRows1 = 2;
inline constexpr int kPairRows2 = 1;
inline PairBlock load_pairs(const void* p) {
  PairBlock r;
  std::memcpy(r.v, p, 64);
  return r;
}
inline Pair spread_pair(const char* p) {
  uint16_t t[2];
  std::memcpy(t, p, 4);
  return {bf16_to_f32(t[0]), bf16_to_f32(t[1])};
}
inline F32 dot_pairs(const F32& sum, Pair a, const PairBlock& b) {
  const V4i upper = V4i{-1, -1, -1, -1} << 16;
  return quarters<F32>([&](int i) {
    const V4f low = reinterpret_cast<V4f>(b.v[i] << 16), high = reinterpret_cast<V4f>(b.v[i] & upper);
    return (sum.v[i] + low * a.low) + high * a.high;
  });
}

// Products of bytes: 16 columns of four neighbours of k, signed, against four unsigned ones of a row.
struct Quad {
  int32_t v[4];
};
struct QuadBlock {
  V4i v[4];
};
inline constexpr int kQuadRows1 = 2;
inline constexpr int kQuadRows2 = 1;
inline QuadBlock load_quads(const void* p) {
  QuadBlock r;
  std::memcpy(r.v, p, 64);
  return r;
}
inline Quad spread_quad(const char* p) {
  uint8_t t[4];
  std::memcpy(t, p, 4);
  return {{t[0], t[1], t[2], t[3]}};
}
inline I32 dot_quads(const I32& sum, const Quad& a, const QuadBlock& b) {
  return quarters<I32>([&](int i) {
    const V4i v = b.v[i];
    return sum.v[i] + ((v << 24) >> 24) * a.v[0] + ((v << 16) >> 24) * a.v[1] + ((v << 8) >> 24) * a.v[2] +
           (v >> 24) * a.v[3];
  });
}

inline Bytes load_bytes(const void* p) {
  Bytes b;
  std::memcpy(b.v, p, 64);
  return b;
}
inline Bytes low_nibbles(const Bytes& b) {
  Bytes r;
  for (int i = 0; i < 64; ++i) r.v[i] = b.v[i] & 15;
  return r;
}
inline Bytes high_nibbles(const Bytes& b) {
  Bytes r;
  for (int i = 0; i < 64; ++i) r.v[i] = static_cast<uint8_t>(b.v[i] >> 4);
  return r;
}
// Not inlined into the unrolled callers: they would take minutes to compile, and this path is for old machines.
[[gnu::noinline]] inline I32 dot_bytes(const Bytes* w, const int8_t* a, int first, int count) {
  int32_t sums[16] = {};
  for (int i = first; i < first + count; ++i)
    for (int r = 0; r < 16; ++r)
      for (int j = 0; j < 4; ++j) sums[r] += int32_t{w[i].v[4 * r + j]} * a[4 * i + j];
  I32 acc;
  std::memcpy(acc.v, sums, 64);
  return acc;
}
template <int kBits, int kFirst, int kCount, int T>
inline void dot_columns(const Bytes (&w)[8], const int8_t* a, I32 (&d)[T]) {
  for (int t = 0; t < T; ++t) d[t] = dot_bytes(w, a + 32 * t, kFirst, kCount);
}
inline void prefetch(const void* p) {
  __builtin_prefetch(p);
}

}  // namespace nereid::kernels::baseline::simd
