// SPDX-License-Identifier: Apache-2.0
#include "quant/q4_1.h"

#include "quant/fit.h"
#include "quant/nibbles.h"

namespace nereid::quant {

void Q4_1::unpack(const Block& block, uint8_t* codes, float* scale, float* min) {
  *scale = f16_to_f32(block.d);
  *min = f16_to_f32(block.m);
  unpack_nibbles<kElements>(block.qs, codes);
}

void Q4_1::encode(const float* src, Block& block) {
  constexpr int kTop = 15;
  const AffineFit fit = fit_affine(std::span<const float, kElements>(src, kElements), kTop, /*min_at_most_zero=*/false);
  block.d = finite_f16(fit.scale);
  block.m = finite_f16(fit.min);
  const float min = f16_to_f32(block.m);
  const float inverse = inverse_or_zero(f16_to_f32(block.d));
  uint8_t codes[kElements];
  for (int i = 0; i < kElements; ++i) codes[i] = static_cast<uint8_t>(round_clamp((src[i] - min) * inverse, 0, kTop));
  pack_nibbles<kElements>(codes, block.qs);
}

}  // namespace nereid::quant
