// SPDX-License-Identifier: Apache-2.0
#include "quant/q3_k.h"

#include "quant/planes.h"
#include "quant/superblock.h"

namespace nereid::quant {
namespace {

constexpr int kScaleBias = 32;

// Group g: low four bits in nibble g / 8 of byte g % 8, high two bits at 2 (g / 4) of byte 8 + g % 4.
int unpack_scale(const uint8_t (&bytes)[12], int g) {
  const int low = (bytes[g % 8] >> (4 * (g / 8))) & 0x0f;
  const int high = (bytes[8 + g % 4] >> (2 * (g / 4))) & 3;
  return (low | (high << 4)) - kScaleBias;
}
void pack_scale(int scale, int g, uint8_t (&bytes)[12]) {
  const int stored = scale + kScaleBias;
  bytes[g % 8] = static_cast<uint8_t>(bytes[g % 8] | ((stored & 0x0f) << (4 * (g / 8))));
  bytes[8 + g % 4] = static_cast<uint8_t>(bytes[8 + g % 4] | ((stored >> 4) << (2 * (g / 4))));
}

}  // namespace

void Q3K::unpack(const Block& block, uint8_t* codes, float* scale, float*) {
  const float d = f16_to_f32(block.d);
  for (int g = 0; g < 16; ++g) scale[g] = d * static_cast<float>(unpack_scale(block.scales, g));
  unpack_planes(block.qs, codes);
  // The third bits: code 32 r + l is bit r of hmask[l].
  for (int i = 0; i < kElements; ++i)
    codes[i] = static_cast<uint8_t>(codes[i] | (((block.hmask[i % 32] >> (i / 32)) & 1) << 2));
}

void Q3K::encode(const float* src, Block& block) {
  const auto fit = fit_symmetric_superblock<16>(src, IntegerLevels{-4, 3}, IntegerLevels{-32, 31});
  block = {};
  block.d = fit.d;
  for (int g = 0; g < 16; ++g) pack_scale(fit.scale[g], g, block.scales);
  uint8_t codes[kElements];
  for (int i = 0; i < kElements; ++i) {
    codes[i] = static_cast<uint8_t>(fit.level[i] + kForm.zero);
    block.hmask[i % 32] = static_cast<uint8_t>(block.hmask[i % 32] | ((codes[i] >> 2) << (i / 32)));
  }
  pack_planes(codes, block.qs);
}

}  // namespace nereid::quant
