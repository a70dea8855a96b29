// SPDX-License-Identifier: Apache-2.0
#include "quant/q2_k.h"

#include "quant/planes.h"
#include "quant/superblock.h"

namespace nereid::quant {

void Q2K::unpack(const Block& block, uint8_t* codes, float* scale, float* min) {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  for (int g = 0; g < 16; ++g) {
    scale[g] = d * static_cast<float>(block.scales[g] & 0x0f);
    min[g] = -(dmin * static_cast<float>(block.scales[g] >> 4));
  }
  unpack_planes(block.qs, codes);
}

void Q2K::encode(const float* src, Block& block) {
  const auto fit = fit_affine_superblock<16>(src, /*top_code=*/3, /*top_scale=*/15);
  block.d = fit.d;
  block.dmin = fit.dmin;
  for (int g = 0; g < 16; ++g) block.scales[g] = static_cast<uint8_t>(fit.scale[g] | (fit.min[g] << 4));
  pack_planes(fit.code.data(), block.qs);
}

}  // namespace nereid::quant
