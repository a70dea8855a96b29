// SPDX-License-Identifier: Apache-2.0
#include "quant/q4_0.h"

#include "quant/fit.h"
#include "quant/nibbles.h"

namespace nereid::quant {

void Q4_0::unpack(const Block& block, uint8_t* codes, float* scale, float*) {
  *scale = f16_to_f32(block.d);
  unpack_nibbles<kElements>(block.qs, codes);
}

void Q4_0::encode(const float* src, Block& block) {
  constexpr IntegerLevels kLevels{-8, 7};
  block.d = finite_f16(fit_scale(std::span<const float, kElements>(src, kElements), kLevels));
  const float inverse = inverse_or_zero(f16_to_f32(block.d));
  uint8_t codes[kElements];
  for (int i = 0; i < kElements; ++i)
    codes[i] = static_cast<uint8_t>(static_cast<int>(kLevels.nearest(src[i] * inverse)) + kForm.zero);
  pack_nibbles<kElements>(codes, block.qs);
}

}  // namespace nereid::quant
