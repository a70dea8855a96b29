// SPDX-License-Identifier: Apache-2.0
// The vectors of AVX-512, and the AMX tile registers beside them. Tiles are addressed by number at compile time.
//
// All tile instructions clobber memory for the compiler: GCC 12's own intrinsics do not say what they read and write,
// and it then moves or drops the stores around them.
#pragma once

#include <cstddef>

#include "kernels/cpu/simd/avx512bf16.h"

namespace nereid::kernels::amx::simd {

using namespace avx512bf16::simd;

// The shapes of the eight tile registers, as ldtilecfg reads them.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

inline void load_tile_config(const TileConfig& config) {
  asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
}
inline void release_tiles() {
  asm volatile("tilerelease" ::: "memory");
}

template <int kTile>
inline void tile_zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
}
template <int kTile>
inline void tile_load(const void* p, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
inline void tile_store(void* p, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(kTile) : "memory");
}
// tile C += signed bytes of A * unsigned bytes of B, four at a time into 32 bits
template <int kC, int kA, int kB>
inline void tile_dot_s8u8() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
}

// tile C += unsigned bytes of A * signed bytes of B
template <int kC, int kA, int kB>
inline void tile_dot_u8s8() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
}
// tile C += bf16 pairs of A * bf16 pairs of B, in f32
template <int kC, int kA, int kB>
inline void tile_dot_bf16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
}

// Of 32 columns the first n, 1 to 32: two vectors of numbers, one of bf16.
struct Columns {
  __mmask32 v;
};
inline Columns first_columns(int64_t n) {
  return {~__mmask32{0} >> (32 - n)};
}
inline void load_columns(const uint16_t* p, F32& a, F32& b, Columns n) {
  const __m512i v = _mm512_maskz_loadu_epi16(n.v, p);
  a.v = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(v)), 16));
  b.v = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(v, 1)), 16));
}
inline void store_columns(uint16_t* p, F32 a, F32 b, Columns n) {
  _mm512_mask_storeu_epi16(p, n.v, (__m512i)_mm512_cvtne2ps_pbh(b.v, a.v));
}
inline void load_columns(const float* p, F32& a, F32& b, Columns n) {
  a.v = _mm512_maskz_loadu_ps(static_cast<__mmask16>(n.v), p);
  b.v = _mm512_maskz_loadu_ps(static_cast<__mmask16>(n.v >> 16), p + 16);
}
inline void store_columns(float* p, F32 a, F32 b, Columns n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>(n.v), a.v);
  _mm512_mask_storeu_ps(p + 16, static_cast<__mmask16>(n.v >> 16), b.v);
}
// Eight pixels of three numbers as four of bf16, the last of them zero.
inline void widen_colours(const float* p, uint16_t* to) {
  const __m512i places = _mm512_setr_epi32(0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0);
  constexpr __mmask16 kColours = 0x7777;
  const __m512 low = _mm512_maskz_permutexvar_ps(kColours, places, _mm512_maskz_loadu_ps(0xfff, p));
  const __m512 high = _mm512_maskz_permutexvar_ps(kColours, places, _mm512_maskz_loadu_ps(0xfff, p + 12));
  _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}
// Sixteen such pixels from planes.
inline void widen_planes(const float* p, const float* q, const float* r, uint16_t* to) {
  const __m512i pq = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(q), _mm512_loadu_ps(p));
  const __m512i r0 = (__m512i)_mm512_cvtne2ps_pbh(_mm512_setzero_ps(), _mm512_loadu_ps(r));
  // Words 0 to 15 are p's, 16 to 31 q's, 32 to 47 r's, the others zero.
  alignas(64) static constexpr uint16_t kLow[32] = {0, 16, 32, 48, 1, 17, 33, 49, 2, 18, 34, 50, 3, 19, 35, 51,
                                                    4, 20, 36, 52, 5, 21, 37, 53, 6, 22, 38, 54, 7, 23, 39, 55};
  const __m512i low = _mm512_load_si512(kLow), high = _mm512_add_epi16(low, _mm512_set1_epi16(8));
  _mm512_storeu_si512(to, _mm512_permutex2var_epi16(pq, low, r0));
  _mm512_storeu_si512(to + 32, _mm512_permutex2var_epi16(pq, high, r0));
}
inline void fetch_for_writing(const void* p) {
  asm volatile("prefetchw (%0)" ::"r"(p));
}
inline void fetch_into_l2(const std::byte* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T1);
}

}  // namespace nereid::kernels::amx::simd
