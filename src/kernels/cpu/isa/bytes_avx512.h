// SPDX-License-Identifier: Apache-2.0
// The bytes of AVX-512 (simd/README.md): interleaving and products that few kernels want.
#pragma once

#include "kernels/cpu/simd/avx512.h"

namespace nereid::kernels::avx512::simd {

inline Bytes load_bytes(const void* p, int n) {
  return {_mm512_maskz_loadu_epi8(n < 64 ? (uint64_t{1} << n) - 1 : ~uint64_t{0}, p)};
}
inline Bytes load_two(const void* p, const void* q, int n) {
  if (n == 32)
    return {_mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(static_cast<const __m256i*>(p))),
                               _mm256_loadu_si256(static_cast<const __m256i*>(q)), 1)};
  const __mmask32 some = (__mmask32{1} << n) - 1;
  return {_mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi8(some, p)), _mm256_maskz_loadu_epi8(some, q),
                             1)};
}
inline void store_two(void* p, void* q, Bytes a, int n) {
  const __mmask32 some = n == 32 ? ~__mmask32{0} : (__mmask32{1} << n) - 1;
  _mm256_mask_storeu_epi8(p, some, _mm512_castsi512_si256(a.v));
  _mm256_mask_storeu_epi8(q, some, _mm512_extracti64x4_epi64(a.v, 1));
}
inline void store_bytes(void* p, Bytes a) {
  _mm512_storeu_si512(p, a.v);
}
inline void store_bytes(void* p, Bytes a, int n) {
  _mm512_mask_storeu_epi8(p, n < 64 ? (uint64_t{1} << n) - 1 : ~uint64_t{0}, a.v);
}
inline Bytes flip_signs(Bytes a) {
  return {_mm512_xor_si512(a.v, _mm512_set1_epi8(-128))};
}
inline Bytes max_bytes(Bytes a, Bytes b) {
  return {_mm512_max_epu8(a.v, b.v)};
}
inline void interleave_bytes(Bytes a, Bytes b, Bytes c, Bytes d, Bytes (&q)[4]) {
  const __m512i ab = _mm512_unpacklo_epi8(a.v, b.v), cd = _mm512_unpacklo_epi8(c.v, d.v);
  const __m512i ef = _mm512_unpackhi_epi8(a.v, b.v), gh = _mm512_unpackhi_epi8(c.v, d.v);
  q[0] = {_mm512_unpacklo_epi16(ab, cd)};
  q[1] = {_mm512_unpackhi_epi16(ab, cd)};
  q[2] = {_mm512_unpacklo_epi16(ef, gh)};
  q[3] = {_mm512_unpackhi_epi16(ef, gh)};
}
inline I32 dot_bytes(I32 sum, Bytes a, const void* p) {
  return {_mm512_dpbusd_epi32(sum.v, a.v, _mm512_loadu_si512(p))};
}
inline Bytes gather_u8(I32 a, I32 b, I32 c, I32 d) {
  return {_mm512_packus_epi16(_mm512_packs_epi32(a.v, b.v), _mm512_packs_epi32(c.v, d.v))};
}
inline Bytes gather_u8(I32 a, I32 b, I32 c, I32 d, int zero) {
  const __m512i z = _mm512_set1_epi16(static_cast<short>(zero));
  return {_mm512_packus_epi16(_mm512_adds_epi16(_mm512_packs_epi32(a.v, b.v), z),
                              _mm512_adds_epi16(_mm512_packs_epi32(c.v, d.v), z))};
}
inline Bytes gather_s8(I32 a, I32 b, I32 c, I32 d) {
  return {_mm512_packs_epi16(_mm512_packs_epi32(a.v, b.v), _mm512_packs_epi32(c.v, d.v))};
}

// Codes of 32 columns of two rows, plus a zero point of 0 to 255, saturated.
inline void store_code_rows(uint8_t* y0, uint8_t* y1, I32 a0, I32 a1, I32 b0, I32 b1, int zero) {
  const __m512i z = _mm512_set1_epi16(static_cast<short>(zero));
  const __m512i a = _mm512_adds_epi16(_mm512_packs_epi32(a0.v, a1.v), z);
  const __m512i b = _mm512_adds_epi16(_mm512_packs_epi32(b0.v, b1.v), z);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i both = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(a, b));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y0), _mm512_castsi512_si256(both));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y1), _mm512_extracti64x4_epi64(both, 1));
}

}  // namespace nereid::kernels::avx512::simd
