// SPDX-License-Identifier: Apache-2.0
// The bytes of AVX2 (simd/README.md): interleaving and products that few kernels want.
#pragma once

#include "kernels/cpu/simd/avx2.h"

namespace nereid::kernels::avx2::simd {

inline Bytes load_bytes(const void* p, int n) {
  alignas(32) char t[64] = {};
  __builtin_memcpy(t, p, static_cast<size_t>(n));
  return load_bytes(t);
}
inline Bytes load_two(const void* p, const void* q, int n) {
  alignas(32) char t[64] = {};
  __builtin_memcpy(t, p, static_cast<size_t>(n));
  __builtin_memcpy(t + 32, q, static_cast<size_t>(n));
  return load_bytes(t);
}
inline void store_two(void* p, void* q, Bytes a, int n) {
  alignas(32) char t[64];
  _mm256_store_si256(reinterpret_cast<__m256i*>(t), a.lo);
  _mm256_store_si256(reinterpret_cast<__m256i*>(t + 32), a.hi);
  __builtin_memcpy(p, t, static_cast<size_t>(n));
  __builtin_memcpy(q, t + 32, static_cast<size_t>(n));
}
inline void store_bytes(void* p, Bytes a) {
  __m256i* q = static_cast<__m256i*>(p);
  _mm256_storeu_si256(q, a.lo);
  _mm256_storeu_si256(q + 1, a.hi);
}
inline void store_bytes(void* p, Bytes a, int n) {
  alignas(32) char t[64];
  store_bytes(t, a);
  __builtin_memcpy(p, t, static_cast<size_t>(n));
}
inline Bytes flip_signs(Bytes a) {
  const __m256i m = _mm256_set1_epi8(-128);
  return {_mm256_xor_si256(a.lo, m), _mm256_xor_si256(a.hi, m)};
}
inline Bytes max_bytes(Bytes a, Bytes b) {
  return {_mm256_max_epu8(a.lo, b.lo), _mm256_max_epu8(a.hi, b.hi)};
}
inline void interleave_bytes(Bytes a, Bytes b, Bytes c, Bytes d, Bytes (&q)[4]) {
  const auto half = [](__m256i i, __m256i j, __m256i k, __m256i l, __m256i(&to)[4]) {
    const __m256i ij = _mm256_unpacklo_epi8(i, j), kl = _mm256_unpacklo_epi8(k, l);
    const __m256i ij_high = _mm256_unpackhi_epi8(i, j), kl_high = _mm256_unpackhi_epi8(k, l);
    to[0] = _mm256_unpacklo_epi16(ij, kl);
    to[1] = _mm256_unpackhi_epi16(ij, kl);
    to[2] = _mm256_unpacklo_epi16(ij_high, kl_high);
    to[3] = _mm256_unpackhi_epi16(ij_high, kl_high);
  };
  __m256i lo[4], hi[4];
  half(a.lo, b.lo, c.lo, d.lo, lo);
  half(a.hi, b.hi, c.hi, d.hi, hi);
  unrolled<4>([&]<int i>() { q[i] = {lo[i], hi[i]}; });
}
inline I32 dot_bytes(I32 sum, Bytes a, const void* p) {
  const auto half = [](__m256i u, __m256i s) {
    const __m256i even =
        _mm256_madd_epi16(_mm256_and_si256(u, _mm256_set1_epi16(0xff)), _mm256_srai_epi16(_mm256_slli_epi16(s, 8), 8));
    return _mm256_add_epi32(even, _mm256_madd_epi16(_mm256_srli_epi16(u, 8), _mm256_srai_epi16(s, 8)));
  };
  const __m256i* q = static_cast<const __m256i*>(p);
  return {_mm256_add_epi32(sum.lo, half(a.lo, _mm256_loadu_si256(q))),
          _mm256_add_epi32(sum.hi, half(a.hi, _mm256_loadu_si256(q + 1)))};
}
inline Bytes gather_u8(I32 a, I32 b, I32 c, I32 d) {
  return {_mm256_packus_epi16(_mm256_packs_epi32(a.lo, b.lo), _mm256_packs_epi32(c.lo, d.lo)),
          _mm256_packus_epi16(_mm256_packs_epi32(a.hi, b.hi), _mm256_packs_epi32(c.hi, d.hi))};
}
inline Bytes gather_u8(I32 a, I32 b, I32 c, I32 d, int zero) {
  const I32 z = iset1(zero);
  return gather_u8(iadd(a, z), iadd(b, z), iadd(c, z), iadd(d, z));
}
inline Bytes gather_s8(I32 a, I32 b, I32 c, I32 d) {
  return {_mm256_packs_epi16(_mm256_packs_epi32(a.lo, b.lo), _mm256_packs_epi32(c.lo, d.lo)),
          _mm256_packs_epi16(_mm256_packs_epi32(a.hi, b.hi), _mm256_packs_epi32(c.hi, d.hi))};
}

// Codes of 32 columns of two rows, plus a zero point of 0 to 255, saturated.
inline void store_code_rows(uint8_t* y0, uint8_t* y1, const I32& a0, const I32& a1, const I32& b0, const I32& b1,
                            int zero) {
  const auto put = [&](uint8_t* y, const I32& v) { store_u8(y, iadd(v, iset1(zero))); };
  put(y0, a0);
  put(y0 + 16, a1);
  put(y1, b0);
  put(y1 + 16, b1);
}

}  // namespace nereid::kernels::avx2::simd
