// SPDX-License-Identifier: Apache-2.0
// AVX-512 with VBMI: a table of 256 bytes in four registers.
#pragma once

#include "kernels/cpu/simd/avx512.h"

namespace nereid::kernels::avx512vbmi::simd {

struct ByteTable {
  __m512i part[4];
};
inline ByteTable load_byte_table(const void* p) {
  const auto* v = static_cast<const __m512i*>(p);
  return {{_mm512_loadu_si512(v), _mm512_loadu_si512(v + 1), _mm512_loadu_si512(v + 2), _mm512_loadu_si512(v + 3)}};
}
// table[a] of each byte a.
inline __m512i look_up(const ByteTable& t, __m512i a) {
  const __m512i low = _mm512_permutex2var_epi8(t.part[0], a, t.part[1]);
  const __m512i high = _mm512_permutex2var_epi8(t.part[2], a, t.part[3]);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(a), low, high);
}

}  // namespace nereid::kernels::avx512vbmi::simd
