// SPDX-License-Identifier: Apache-2.0
#include "quant/q5_k.h"

#include "quant/nibbles.h"
#include "quant/scales6.h"
#include "quant/superblock.h"

namespace nereid::quant {

void Q5K::unpack(const Block& block, uint8_t* codes, float* scale, float* min) {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  const Scales6 s = unpack_scales6(block.scales);
  for (int g = 0; g < 8; ++g) {
    scale[g] = d * static_cast<float>(s.scale[g]);
    min[g] = -(dmin * static_cast<float>(s.min[g]));
  }
  for (int pair = 0; pair < 4; ++pair) unpack_nibbles<64>(block.qs + 32 * pair, codes + 64 * pair);
  for (int i = 0; i < kElements; ++i)
    codes[i] = static_cast<uint8_t>(codes[i] | (((block.qh[i % 32] >> (i / 32)) & 1) << 4));
}

void Q5K::encode(const float* src, Block& block) {
  const auto fit = fit_affine_superblock<32>(src, /*top_code=*/31, /*top_scale=*/63);
  block = {};
  block.d = fit.d;
  block.dmin = fit.dmin;
  Scales6 s;
  std::copy(fit.scale.begin(), fit.scale.end(), s.scale);
  std::copy(fit.min.begin(), fit.min.end(), s.min);
  pack_scales6(s, block.scales);
  for (int pair = 0; pair < 4; ++pair) pack_nibbles<64>(fit.code.data() + 64 * pair, block.qs + 32 * pair);
  for (int i = 0; i < kElements; ++i)
    block.qh[i % 32] = static_cast<uint8_t>(block.qh[i % 32] | ((fit.code[i] >> 4) << (i / 32)));
}

}  // namespace nereid::quant
