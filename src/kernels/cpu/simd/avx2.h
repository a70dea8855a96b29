// SPDX-License-Identifier: Apache-2.0
// Sixteen-lane vectors as two AVX2 halves (AVX2, FMA, F16C). The interface is described in simd/README.md.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "kernels/cpu/simd/unrolled.h"

namespace nereid::kernels::avx2::simd {

struct F32 {
  __m256 lo, hi;
};
struct I32 {
  __m256i lo, hi;
};
struct Bytes {
  __m256i lo, hi;
};

// Tokens a linear tile keeps in registers: 2 x 4 sums leave room in 16 registers.
inline constexpr int kTileTokens = 4;
inline constexpr int kDotTokens = 1;
// Rows of a product's tile beside 1, 2 and 4 panels of 16 columns: a panel is two of 16 registers.
inline constexpr int kGemmRows1 = 6;
inline constexpr int kGemmRows2 = 2;
inline constexpr int kGemmRows4 = 1;
// Pixels and rows of a depthwise convolution's tile.
inline constexpr int kDepthwisePixels = 4;
inline constexpr int kDepthwiseRows = 1;
// maddubs saturates on full-range codes, so dot_columns subtracts 128 from 8-bit codes itself.
inline constexpr int kCode8Zero = 0;

inline F32 load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
inline void store(float* p, F32 a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
inline F32 load_partial(const float* p, int n) {
  alignas(32) float t[16] = {};
  std::memcpy(t, p, static_cast<size_t>(n) * sizeof(float));
  return load(t);
}
inline void store_partial(float* p, F32 a, int n) {
  alignas(32) float t[16];
  store(t, a);
  std::memcpy(p, t, static_cast<size_t>(n) * sizeof(float));
}
inline F32 set1(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
inline F32 zero() {
  return {_mm256_setzero_ps(), _mm256_setzero_ps()};
}
inline F32 add(F32 a, F32 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
inline F32 sub(F32 a, F32 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
inline F32 mul(F32 a, F32 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
inline F32 div(F32 a, F32 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
inline F32 max(F32 a, F32 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
inline F32 min(F32 a, F32 b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
inline F32 fma(F32 a, F32 b, F32 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
inline F32 fnma(F32 a, F32 b, F32 c) {
  return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}
inline F32 abs(F32 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
inline F32 sqrt(F32 a) {
  return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)};
}
inline F32 round(F32 a) {
  constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(a.lo, kMode), _mm256_round_ps(a.hi, kMode)};
}
inline float reduce_add(F32 a) {
  const __m256 s = _mm256_add_ps(a.lo, a.hi);
  __m128 q = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
  q = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}
inline float reduce_max(F32 a) {
  const __m256 s = _mm256_max_ps(a.lo, a.hi);
  __m128 q = _mm_max_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
  q = _mm_max_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}
inline F32 scale_by_pow2(F32 a, F32 n) {
  // Adds n to the exponent field; the callers keep results in the normal range.
  const __m256i lo = _mm256_slli_epi32(_mm256_cvtps_epi32(n.lo), 23);
  const __m256i hi = _mm256_slli_epi32(_mm256_cvtps_epi32(n.hi), 23);
  return {_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a.lo), lo)),
          _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a.hi), hi))};
}

// The first n lanes, for loads and stores that cost the same for any n; the rest is zero, or untouched.
struct Lanes {
  __m256i lo, hi;
};
inline Lanes first_lanes(int n) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return {_mm256_cmpgt_epi32(_mm256_set1_epi32(n), index), _mm256_cmpgt_epi32(_mm256_set1_epi32(n - 8), index)};
}
inline F32 load(const float* p, Lanes n) {
  return {_mm256_maskload_ps(p, n.lo), _mm256_maskload_ps(p + 8, n.hi)};
}
inline void store(float* p, F32 a, Lanes n) {
  _mm256_maskstore_ps(p, n.lo, a.lo);
  _mm256_maskstore_ps(p + 8, n.hi, a.hi);
}

inline __m128i bf16_of(__m256 a) {
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i upper = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(upper, upper), 0xd8);
  return _mm256_castsi256_si128(packed);
}
inline void store_bf16(uint16_t* p, F32 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bf16_of(a.lo));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p) + 1, bf16_of(a.hi));
}
inline I32 load_i32(const int32_t* p) {
  const __m256i* q = reinterpret_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
inline void store_i32(int32_t* p, I32 a) {
  __m256i* q = reinterpret_cast<__m256i*>(p);
  _mm256_storeu_si256(q, a.lo);
  _mm256_storeu_si256(q + 1, a.hi);
}
inline F32 load_u8(const uint8_t* p) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(v)), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(v, 8)))};
}
inline F32 load_s8(const int8_t* p) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(v)), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(v, 8)))};
}
inline void store_u8(uint8_t* p, I32 a) {
  const __m256i w = _mm256_permute4x64_epi64(_mm256_packs_epi32(a.lo, a.hi), 0xd8);
  const __m128i b = _mm_packus_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), b);
}

// Products of bf16 pairs: 16 columns of two neighbours of k against one pair of a row.
struct Pair {
  __m256 low, high;
};
struct PairBlock {
  __m256 low[2], high[2];
};
inline constexpr int kPairRows1 = 4;
inline constexpr int kPairRows2 = 1;
inline __m256 lower_bf16(__m256i v) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}
inline __m256 upper_bf16(__m256i v) {
  return _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32(static_cast<int>(0xffff0000))));
}
inline PairBlock load_pairs(const void* p) {
  const __m256i* q = static_cast<const __m256i*>(p);
  const __m256i a = _mm256_loadu_si256(q), b = _mm256_loadu_si256(q + 1);
  return {{lower_bf16(a), lower_bf16(b)}, {upper_bf16(a), upper_bf16(b)}};
}
inline Pair spread_pair(const char* p) {
  const __m256i v = _mm256_set1_epi32(*reinterpret_cast<const int32_t*>(p));
  return {lower_bf16(v), upper_bf16(v)};
}
inline F32 dot_pairs(F32 sum, Pair a, PairBlock b) {
  return {_mm256_fmadd_ps(a.high, b.high[0], _mm256_fmadd_ps(a.low, b.low[0], sum.lo)),
          _mm256_fmadd_ps(a.high, b.high[1], _mm256_fmadd_ps(a.low, b.low[1], sum.hi))};
}

// Products of bytes: 16 columns of four neighbours of k, signed, against four unsigned ones of a row. In 16 bits, the
// even and the odd neighbours apart: maddubs would saturate.
struct Quad {
  __m256i even, odd;
};
struct QuadBlock {
  __m256i even[2], odd[2];
};
inline constexpr int kQuadRows1 = 4;
inline constexpr int kQuadRows2 = 1;
inline QuadBlock load_quads(const void* p) {
  const __m256i* q = static_cast<const __m256i*>(p);
  const __m256i a = _mm256_loadu_si256(q), b = _mm256_loadu_si256(q + 1);
  const auto even = [](__m256i v) { return _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8); };
  return {{even(a), even(b)}, {_mm256_srai_epi16(a, 8), _mm256_srai_epi16(b, 8)}};
}
inline Quad spread_quad(const char* p) {
  const __m256i v = _mm256_set1_epi32(*reinterpret_cast<const int32_t*>(p));
  return {_mm256_and_si256(v, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(v, 8)};
}
inline I32 dot_quads(I32 sum, Quad a, QuadBlock b) {
  const auto half = [&](int i) {
    return _mm256_add_epi32(_mm256_madd_epi16(a.even, b.even[i]), _mm256_madd_epi16(a.odd, b.odd[i]));
  };
  return {_mm256_add_epi32(sum.lo, half(0)), _mm256_add_epi32(sum.hi, half(1))};
}

// Comparisons are false where either side is NaN.
struct Mask {
  __m256 lo, hi;
};
inline Mask less(F32 a, F32 b) {
  return {_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ)};
}
inline Mask less_equal(F32 a, F32 b) {
  return {_mm256_cmp_ps(a.lo, b.lo, _CMP_LE_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LE_OQ)};
}
inline Mask equal(F32 a, F32 b) {
  return {_mm256_cmp_ps(a.lo, b.lo, _CMP_EQ_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_EQ_OQ)};
}
inline F32 select(Mask m, F32 yes, F32 no) {
  return {_mm256_blendv_ps(no.lo, yes.lo, m.lo), _mm256_blendv_ps(no.hi, yes.hi, m.hi)};
}
inline F32 floor(F32 a) {
  return {_mm256_floor_ps(a.lo), _mm256_floor_ps(a.hi)};
}
// Normal a > 0 is mantissa * 2^exponent, the mantissa in [1, 2).
inline __m256 exponent8(__m256 a) {
  return _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(a), 23), _mm256_set1_epi32(127)));
}
inline F32 exponent(F32 a) {
  return {exponent8(a.lo), exponent8(a.hi)};
}
inline __m256 mantissa8(__m256 a) {
  const __m256 bits = _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x007fffff)));
  return _mm256_or_ps(bits, _mm256_set1_ps(1.0f));
}
inline F32 mantissa(F32 a) {
  return {mantissa8(a.lo), mantissa8(a.hi)};
}

// dst[j][i] = src[i][j] for i < n, 0 beyond; 16 x 16 numbers, strides in elements.
inline void transpose8(const float* src, int64_t src_stride, int n, float* dst, int64_t dst_stride) {
  __m256 r[8], t[8];
  unrolled<8>([&]<int i>() { r[i] = i < n ? _mm256_loadu_ps(src + i * src_stride) : _mm256_setzero_ps(); });
  unrolled<4>([&]<int i>() {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  });
  unrolled<2>([&]<int i>() {
    r[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    r[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
    r[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    r[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
  });
  unrolled<4>([&]<int j>() {
    _mm256_storeu_ps(dst + j * dst_stride, _mm256_permute2f128_ps(r[j], r[4 + j], 0x20));
    _mm256_storeu_ps(dst + (4 + j) * dst_stride, _mm256_permute2f128_ps(r[j], r[4 + j], 0x31));
  });
}
inline void transpose16(const float* src, int64_t src_stride, int n, float* dst, int64_t dst_stride) {
  for (int i = 0; i < 16; i += 8)
    for (int j = 0; j < 16; j += 8)
      transpose8(src + i * src_stride + j, src_stride, n - i, dst + j * dst_stride + i, dst_stride);
}

inline F32 load_f16(const uint16_t* p) {
  const __m128i* q = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(q)), _mm256_cvtph_ps(_mm_loadu_si128(q + 1))};
}
inline void store_f16(uint16_t* p, F32 a) {
  constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  __m128i* q = reinterpret_cast<__m128i*>(p);
  _mm_storeu_si128(q, _mm256_cvtps_ph(a.lo, kMode));
  _mm_storeu_si128(q + 1, _mm256_cvtps_ph(a.hi, kMode));
}
inline F32 load_bf16(const uint16_t* p) {
  const __m128i* q = reinterpret_cast<const __m128i*>(p);
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(q)), 16)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(q + 1)), 16))};
}

inline I32 izero() {
  return {_mm256_setzero_si256(), _mm256_setzero_si256()};
}
inline I32 iset1(int32_t x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
inline I32 iadd(I32 a, I32 b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
inline int32_t ireduce_add(I32 a) {
  const __m256i s = _mm256_add_epi32(a.lo, a.hi);
  __m128i q = _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1)));
}
inline F32 to_f32(I32 a) {
  return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
}
inline I32 to_i32(F32 a) {
  return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)};
}
inline void store_i8(int8_t* p, I32 a) {
  __m256i w = _mm256_permute4x64_epi64(_mm256_packs_epi32(a.lo, a.hi), 0xd8);  // 16 x i16 in order
  const __m128i b = _mm_packs_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), b);
}

inline Bytes load_bytes(const void* p) {
  const __m256i* q = static_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
inline Bytes low_nibbles(Bytes b) {
  const __m256i m = _mm256_set1_epi8(0x0f);
  return {_mm256_and_si256(b.lo, m), _mm256_and_si256(b.hi, m)};
}
inline Bytes high_nibbles(Bytes b) {
  const __m256i m = _mm256_set1_epi8(0x0f);
  return {_mm256_and_si256(_mm256_srli_epi16(b.lo, 4), m), _mm256_and_si256(_mm256_srli_epi16(b.hi, 4), m)};
}
// maddubs gives 16-bit sums of two products. So many of them may be added before they are widened: 4-bit codes reach
// 15 * 127 * 2 = 3,810 each, 6-bit ones 16,002 (kBits 7 stands for up to 6).
template <int kBits>
inline constexpr int kSums16 = kBits == 4   ? 8
                               : kBits == 7 ? 2
                                            : 1;

inline __m256i widen_add(__m256i acc, __m256i sums16) {
  return _mm256_add_epi32(acc, _mm256_madd_epi16(sums16, _mm256_set1_epi16(1)));
}

template <int kBits, int kFirst, int kCount, int T>
inline void dot_columns(const Bytes (&w)[8], const int8_t* a, I32 (&d)[T]) {
  static_assert(T == 1);
  constexpr int kRun = kSums16<kBits> < kCount ? kSums16<kBits> : kCount;
  I32 acc = izero();
  unrolled<kCount / kRun>([&]<int run>() {
    __m256i lo = _mm256_setzero_si256();
    __m256i hi = lo;
    unrolled<kRun>([&]<int n>() {
      constexpr int j = kFirst + run * kRun + n;
      int32_t four;
      std::memcpy(&four, a + 4 * j, 4);
      const __m256i s = _mm256_set1_epi32(four);
      if constexpr (kBits == 8) {
        // Full bytes would overflow the 16 bits: multiply magnitudes of code - 128 and move the sign to the activation.
        const __m256i bias = _mm256_set1_epi8(static_cast<char>(0x80));
        const __m256i wl = _mm256_xor_si256(w[j].lo, bias);
        const __m256i wh = _mm256_xor_si256(w[j].hi, bias);
        lo = _mm256_maddubs_epi16(_mm256_abs_epi8(wl), _mm256_sign_epi8(s, wl));
        hi = _mm256_maddubs_epi16(_mm256_abs_epi8(wh), _mm256_sign_epi8(s, wh));
      } else {
        lo = _mm256_add_epi16(lo, _mm256_maddubs_epi16(w[j].lo, s));
        hi = _mm256_add_epi16(hi, _mm256_maddubs_epi16(w[j].hi, s));
      }
    });
    acc = {widen_add(acc.lo, lo), widen_add(acc.hi, hi)};
  });
  d[0] = acc;
}
inline void prefetch(const void* p) {
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
}

}  // namespace nereid::kernels::avx2::simd
