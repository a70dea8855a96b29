// SPDX-License-Identifier: Apache-2.0
// The rotation of one head's row by its token's angles.
#pragma once

#include <cstdint>

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

// x may be y (a step reads what it writes before it writes it). cos_sin: rotary_dim / 2 cosines, then as many sines.
inline void rotate_row(const float* x, const float* cos_sin, int head_dim, int rotary_dim, bool interleaved, float* y) {
  const int half = rotary_dim / 2;
  const float* c = cos_sin;
  const float* s = cos_sin + half;
  if (interleaved) {
    for (int j = 0; j < half; ++j) {
      const float a = x[2 * j];
      const float b = x[2 * j + 1];
      y[2 * j] = a * c[j] - b * s[j];
      y[2 * j + 1] = a * s[j] + b * c[j];
    }
  } else {
    int j = 0;
    for (; j + 16 <= half; j += 16) {
      using namespace simd;
      const F32 a = load(x + j), b = load(x + j + half);
      const F32 cosine = load(c + j), sine = load(s + j);
      store(y + j, fnma(b, sine, mul(a, cosine)));
      store(y + j + half, simd::fma(a, sine, mul(b, cosine)));
    }
    for (; j < half; ++j) {
      const float a = x[j];
      const float b = x[j + half];
      y[j] = a * c[j] - b * s[j];
      y[j + half] = a * s[j] + b * c[j];
    }
  }
  for (int j = rotary_dim; j < head_dim; ++j) y[j] = x[j];
}

}  // namespace nereid::kernels::NEREID_ISA
