// SPDX-License-Identifier: Apache-2.0
#include "quant/iq4_nl.h"

#include "quant/fit.h"
#include "quant/nibbles.h"
#include "quant/uneven_levels.h"

namespace nereid::quant {

void Iq4Nl::unpack(const Block& block, uint8_t* codes, float* scale, float*) {
  *scale = f16_to_f32(block.d);
  unpack_nibbles<kElements>(block.qs, codes);
  for (int i = 0; i < kElements; ++i) codes[i] = static_cast<uint8_t>(kUnevenLevels[codes[i]] + kForm.zero);
}

void Iq4Nl::encode(const float* src, Block& block) {
  block.d = finite_f16(fit_scale(std::span<const float, kElements>(src, kElements), UnevenLevels{}));
  const float inverse = inverse_or_zero(f16_to_f32(block.d));
  uint8_t indices[kElements];
  for (int i = 0; i < kElements; ++i) indices[i] = static_cast<uint8_t>(nearest_uneven_index(src[i] * inverse));
  pack_nibbles<kElements>(indices, block.qs);
}

}  // namespace nereid::quant
