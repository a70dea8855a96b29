// SPDX-License-Identifier: Apache-2.0
// AVX-512 with AVX512_BF16: pairs of bf16 are multiplied as they are.
#pragma once

#include "kernels/cpu/simd/avx512.h"

namespace nereid::kernels::avx512bf16::simd {

using namespace avx512::simd;

struct Pair {
  __m512bh v;
};
struct PairBlock {
  __m512bh v;
};
inline constexpr int kPairRows1 = 14;
inline constexpr int kPairRows2 = 14;
inline PairBlock load_pairs(const void* p) {
  return {(__m512bh)_mm512_loadu_si512(p)};
}
inline Pair spread_pair(const char* p) {
  return {(__m512bh)_mm512_set1_epi32(*reinterpret_cast<const int32_t*>(p))};
}
inline F32 dot_pairs(F32 sum, Pair a, PairBlock b) {
  return {_mm512_dpbf16_ps(sum.v, a.v, b.v)};
}
inline void store_bf16(uint16_t* p, F32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(a.v));
}

}  // namespace nereid::kernels::avx512bf16::simd
