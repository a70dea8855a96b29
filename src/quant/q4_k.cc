// SPDX-License-Identifier: Apache-2.0
#include "quant/q4_k.h"

#include "quant/nibbles.h"
#include "quant/scales6.h"
#include "quant/superblock.h"

namespace nereid::quant {

void Q4K::unpack(const Block& block, uint8_t* codes, float* scale, float* min) {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  const Scales6 s = unpack_scales6(block.scales);
  for (int g = 0; g < 8; ++g) {
    scale[g] = d * static_cast<float>(s.scale[g]);
    min[g] = -(dmin * static_cast<float>(s.min[g]));
  }
  for (int pair = 0; pair < 4; ++pair) unpack_nibbles<64>(block.qs + 32 * pair, codes + 64 * pair);
}

void Q4K::encode(const float* src, Block& block) {
  const auto fit = fit_affine_superblock<32>(src, /*top_code=*/15, /*top_scale=*/63);
  block.d = fit.d;
  block.dmin = fit.dmin;
  Scales6 s;
  std::copy(fit.scale.begin(), fit.scale.end(), s.scale);
  std::copy(fit.min.begin(), fit.min.end(), s.min);
  pack_scales6(s, block.scales);
  for (int pair = 0; pair < 4; ++pair) pack_nibbles<64>(fit.code.data() + 64 * pair, block.qs + 32 * pair);
}

}  // namespace nereid::quant
