// SPDX-License-Identifier: Apache-2.0
#include "quant/iq4_xs.h"

#include "quant/nibbles.h"
#include "quant/superblock.h"
#include "quant/uneven_levels.h"

namespace nereid::quant {
namespace {
constexpr int kScaleBias = 32;
}

void Iq4Xs::unpack(const Block& block, uint8_t* codes, float* scale, float*) {
  const float d = f16_to_f32(block.d);
  for (int g = 0; g < 8; ++g) {
    const int low = (block.scales_l[g / 2] >> (4 * (g % 2))) & 0x0f;
    const int high = (block.scales_h >> (2 * g)) & 3;
    scale[g] = d * static_cast<float>((low | (high << 4)) - kScaleBias);
    unpack_nibbles<32>(block.qs + 16 * g, codes + 32 * g);
  }
  for (int i = 0; i < kElements; ++i) codes[i] = static_cast<uint8_t>(kUnevenLevels[codes[i]] + kForm.zero);
}

void Iq4Xs::encode(const float* src, Block& block) {
  const auto fit = fit_symmetric_superblock<32>(src, UnevenLevels{}, IntegerLevels{-32, 31});
  block = {};
  block.d = fit.d;
  for (int g = 0; g < 8; ++g) {
    const int stored = fit.scale[g] + kScaleBias;
    block.scales_l[g / 2] = static_cast<uint8_t>(block.scales_l[g / 2] | ((stored & 0x0f) << (4 * (g % 2))));
    block.scales_h = static_cast<uint16_t>(block.scales_h | ((stored >> 4) << (2 * g)));
    uint8_t indices[32];
    for (int i = 0; i < 32; ++i) indices[i] = static_cast<uint8_t>(nearest_uneven_index(fit.level[32 * g + i]));
    pack_nibbles<32>(indices, block.qs + 16 * g);
  }
}

}  // namespace nereid::quant
