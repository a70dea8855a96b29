// SPDX-License-Identifier: Apache-2.0
// Sixteen-lane vectors on AVX-512 (F, BW, VL, DQ, VNNI). The interface is described in simd/README.md.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/cpu/simd/unrolled.h"

namespace nereid::kernels::avx512::simd {

struct F32 {
  __m512 v;
};
struct I32 {
  __m512i v;
};
struct Bytes {
  __m512i v;
};

// Tokens a linear tile keeps in registers: 16 sums + 8 weight vectors + scales fit the 32 registers.
inline constexpr int kTileTokens = 16;
// Rows of a product's tile beside 1, 2 and 4 panels of 16 columns: sums, panels and a broadcast fill 32 registers.
inline constexpr int kGemmRows1 = 14;
inline constexpr int kGemmRows2 = 14;
inline constexpr int kGemmRows4 = 6;
// Pixels and rows of a depthwise convolution's tile.
inline constexpr int kDepthwisePixels = 7;
inline constexpr int kDepthwiseRows = 2;
// Tokens that dot_columns takes side by side.
inline constexpr int kDotTokens = 4;
// dot_columns multiplies 8-bit codes as they are; the caller subtracts 128 * sum(activations).
inline constexpr int kCode8Zero = 128;

inline F32 load(const float* p) {
  return {_mm512_loadu_ps(p)};
}
inline void store(float* p, F32 a) {
  _mm512_storeu_ps(p, a.v);
}
inline F32 load_partial(const float* p, int n) {
  return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p)};
}
inline void store_partial(float* p, F32 a, int n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), a.v);
}
inline F32 set1(float x) {
  return {_mm512_set1_ps(x)};
}
inline F32 zero() {
  return {_mm512_setzero_ps()};
}
inline F32 add(F32 a, F32 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
inline F32 sub(F32 a, F32 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
inline F32 mul(F32 a, F32 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
inline F32 div(F32 a, F32 b) {
  return {_mm512_div_ps(a.v, b.v)};
}
inline F32 max(F32 a, F32 b) {
  return {_mm512_max_ps(a.v, b.v)};
}
inline F32 min(F32 a, F32 b) {
  return {_mm512_min_ps(a.v, b.v)};
}
inline F32 fma(F32 a, F32 b, F32 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline F32 fnma(F32 a, F32 b, F32 c) {
  return {_mm512_fnmadd_ps(a.v, b.v, c.v)};
}
inline F32 abs(F32 a) {
  return {_mm512_abs_ps(a.v)};
}
inline F32 sqrt(F32 a) {
  return {_mm512_sqrt_ps(a.v)};
}
inline F32 round(F32 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline float reduce_add(F32 a) {
  return _mm512_reduce_add_ps(a.v);
}
inline float reduce_max(F32 a) {
  return _mm512_reduce_max_ps(a.v);
}
// a * 2^n for integral n
inline F32 scale_by_pow2(F32 a, F32 n) {
  return {_mm512_scalef_ps(a.v, n.v)};
}

// The first n lanes, for loads and stores that cost the same for any n; the rest is zero, or untouched.
struct Lanes {
  __mmask16 v;
};
inline Lanes first_lanes(int n) {
  return {static_cast<__mmask16>((1u << n) - 1)};
}
inline F32 load(const float* p, Lanes n) {
  return {_mm512_maskz_loadu_ps(n.v, p)};
}
inline void store(float* p, F32 a, Lanes n) {
  _mm512_mask_storeu_ps(p, n.v, a.v);
}

inline void store_bf16(uint16_t* p, F32 a) {
  const __m512i bits = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const __m512i upper = _mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(upper));
}
inline I32 load_i32(const int32_t* p) {
  return {_mm512_loadu_si512(p)};
}
inline void store_i32(int32_t* p, I32 a) {
  _mm512_storeu_si512(p, a.v);
}
inline F32 load_u8(const uint8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
inline F32 load_s8(const int8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
inline void store_u8(uint8_t* p, I32 a) {
  const __m512i positive = _mm512_max_epi32(a.v, _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtusepi32_epi8(positive));
}

// Products of bf16 pairs: 16 columns of two neighbours of k against one pair of a row.
struct Pair {
  __m512 low, high;
};
struct PairBlock {
  __m512 low, high;
};
inline constexpr int kPairRows1 = 12;
inline constexpr int kPairRows2 = 12;
inline __m512 lower_bf16(__m512i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
}
inline __m512 upper_bf16(__m512i v) {
  return _mm512_castsi512_ps(_mm512_and_si512(v, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}
inline PairBlock load_pairs(const void* p) {
  const __m512i v = _mm512_loadu_si512(p);
  return {lower_bf16(v), upper_bf16(v)};
}
inline Pair spread_pair(const char* p) {
  const __m512i v = _mm512_set1_epi32(*reinterpret_cast<const int32_t*>(p));
  return {lower_bf16(v), upper_bf16(v)};
}
inline F32 dot_pairs(F32 sum, Pair a, PairBlock b) {
  return {_mm512_fmadd_ps(a.high, b.high, _mm512_fmadd_ps(a.low, b.low, sum.v))};
}

// Products of bytes: 16 columns of four neighbours of k, signed, against four unsigned ones of a row.
struct Quad {
  __m512i v;
};
struct QuadBlock {
  __m512i v;
};
inline constexpr int kQuadRows1 = 14;
inline constexpr int kQuadRows2 = 14;
inline QuadBlock load_quads(const void* p) {
  return {_mm512_loadu_si512(p)};
}
inline Quad spread_quad(const char* p) {
  return {_mm512_set1_epi32(*reinterpret_cast<const int32_t*>(p))};
}
inline I32 dot_quads(I32 sum, Quad a, QuadBlock b) {
  return {_mm512_dpbusd_epi32(sum.v, a.v, b.v)};
}

// Comparisons are false where either side is NaN.
struct Mask {
  __mmask16 v;
};
inline Mask less(F32 a, F32 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
inline Mask less_equal(F32 a, F32 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
}
inline Mask equal(F32 a, F32 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)};
}
inline F32 select(Mask m, F32 yes, F32 no) {
  return {_mm512_mask_blend_ps(m.v, no.v, yes.v)};
}
inline F32 floor(F32 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
// Normal a > 0 is mantissa * 2^exponent, the mantissa in [1, 2).
inline F32 exponent(F32 a) {
  return {_mm512_getexp_ps(a.v)};
}
inline F32 mantissa(F32 a) {
  return {_mm512_getmant_ps(a.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero)};
}

// dst[j][i] = src[i][j] for i < n, 0 beyond; 16 x 16 numbers, strides in elements.
inline void transpose16(const float* src, int64_t src_stride, int n, float* dst, int64_t dst_stride) {
  __m512 r[16], t[16];
  unrolled<16>([&]<int i>() { r[i] = i < n ? _mm512_loadu_ps(src + i * src_stride) : _mm512_setzero_ps(); });
  unrolled<8>([&]<int i>() {
    t[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  });
  unrolled<4>([&]<int i>() {
    const auto pd = [](__m512 v) { return _mm512_castps_pd(v); };
    r[4 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(pd(t[4 * i]), pd(t[4 * i + 2])));
    r[4 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(pd(t[4 * i]), pd(t[4 * i + 2])));
    r[4 * i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(pd(t[4 * i + 1]), pd(t[4 * i + 3])));
    r[4 * i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(pd(t[4 * i + 1]), pd(t[4 * i + 3])));
  });
  unrolled<4>([&]<int j>() {  // lane l of r[4i + j]: rows 4i .. 4i + 3 of column 4l + j
    const __m512 a = _mm512_shuffle_f32x4(r[j], r[4 + j], 0x88), b = _mm512_shuffle_f32x4(r[j], r[4 + j], 0xdd);
    const __m512 c = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0x88),
                 d = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0xdd);
    _mm512_storeu_ps(dst + j * dst_stride, _mm512_shuffle_f32x4(a, c, 0x88));
    _mm512_storeu_ps(dst + (4 + j) * dst_stride, _mm512_shuffle_f32x4(b, d, 0x88));
    _mm512_storeu_ps(dst + (8 + j) * dst_stride, _mm512_shuffle_f32x4(a, c, 0xdd));
    _mm512_storeu_ps(dst + (12 + j) * dst_stride, _mm512_shuffle_f32x4(b, d, 0xdd));
  });
}

inline F32 load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
inline void store_f16(uint16_t* p, F32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline F32 load_bf16(const uint16_t* p) {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
}

inline I32 izero() {
  return {_mm512_setzero_si512()};
}
inline I32 iadd(I32 a, I32 b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
inline I32 iset1(int32_t x) {
  return {_mm512_set1_epi32(x)};
}
inline int32_t ireduce_add(I32 a) {
  return _mm512_reduce_add_epi32(a.v);
}
inline F32 to_f32(I32 a) {
  return {_mm512_cvtepi32_ps(a.v)};
}
inline I32 to_i32(F32 a) {
  return {_mm512_cvtps_epi32(a.v)};
}
inline void store_i8(int8_t* p, I32 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(a.v));
}

inline Bytes load_bytes(const void* p) {
  return {_mm512_loadu_si512(p)};
}
inline Bytes low_nibbles(Bytes b) {
  return {_mm512_and_si512(b.v, _mm512_set1_epi8(0x0f))};
}
inline Bytes high_nibbles(Bytes b) {
  return {_mm512_and_si512(_mm512_srli_epi16(b.v, 4), _mm512_set1_epi8(0x0f))};
}
// acc + dot products of four unsigned bytes of w with the four signed bytes at p. One instruction: GCC 12 makes two of
// the intrinsics' form, a broadcast and a product.
inline __m512i dot4(__m512i acc, __m512i w, const int8_t* p) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(w), "m"(*reinterpret_cast<const int8_t(*)[4]>(p)));
  return acc;
}

// kBits is not needed here: the instruction takes any unsigned byte. Tokens go side by side, since one token's chain of
// additions has 5 cycles a link.
template <int kBits, int kFirst, int kCount, int T>
inline void dot_columns(const Bytes (&w)[8], const int8_t* a, I32 (&d)[T]) {
  __m512i sum[T];  // not d itself: the asm reads bytes, which could be d's for all the compiler knows
  unrolled<T>([&]<int t>() { sum[t] = _mm512_setzero_si512(); });
  unrolled<kCount>([&]<int j>() {
    unrolled<T>([&]<int t>() { sum[t] = dot4(sum[t], w[kFirst + j].v, a + 32 * t + 4 * (kFirst + j)); });
  });
  unrolled<T>([&]<int t>() { d[t] = {sum[t]}; });
}
inline void prefetch(const void* p) {
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
}

}  // namespace nereid::kernels::avx512::simd
