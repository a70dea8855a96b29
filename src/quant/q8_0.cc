// SPDX-License-Identifier: Apache-2.0
#include "quant/q8_0.h"

#include "quant/fit.h"

namespace nereid::quant {

void Q8_0::unpack(const Block& block, uint8_t* codes, float* scale, float*) {
  *scale = f16_to_f32(block.d);
  for (int i = 0; i < kElements; ++i) codes[i] = static_cast<uint8_t>(block.qs[i] + kForm.zero);
}

// No search: with 255 levels the plain "largest magnitude maps to 127" is within a few percent of the best error.
void Q8_0::encode(const float* src, Block& block) {
  constexpr int kTop = 127;
  float peak = 0;
  for (int i = 0; i < kElements; ++i) peak = std::max(peak, std::abs(src[i]));
  block.d = finite_f16(peak / kTop);
  const float inverse = inverse_or_zero(f16_to_f32(block.d));
  for (int i = 0; i < kElements; ++i) block.qs[i] = static_cast<int8_t>(round_clamp(src[i] * inverse, -kTop, kTop));
}

}  // namespace nereid::quant
