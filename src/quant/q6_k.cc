// SPDX-License-Identifier: Apache-2.0
#include "quant/q6_k.h"

#include "quant/superblock.h"

namespace nereid::quant {
namespace {

// Where the bits of one weight are: its four low bits in ql[low] at low_shift, its two high bits in qh[high] at
// high_shift.
struct Place {
  int low, low_shift, high, high_shift;
};
constexpr Place place(int i) {
  const int half = i / 128, run = i % 128 / 32, l = i % 32;
  return {half * 64 + run % 2 * 32 + l, run / 2 * 4, half * 32 + l, run * 2};
}

}  // namespace

void Q6K::unpack(const Block& block, uint8_t* codes, float* scale, float*) {
  const float d = f16_to_f32(block.d);
  for (int g = 0; g < 16; ++g) scale[g] = d * static_cast<float>(block.scales[g]);
  for (int i = 0; i < kElements; ++i) {
    const Place p = place(i);
    const int low = (block.ql[p.low] >> p.low_shift) & 0x0f;
    const int high = (block.qh[p.high] >> p.high_shift) & 3;
    codes[i] = static_cast<uint8_t>(low | (high << 4));
  }
}

void Q6K::encode(const float* src, Block& block) {
  const auto fit = fit_symmetric_superblock<16>(src, IntegerLevels{-32, 31}, IntegerLevels{-128, 127});
  block = {};
  block.d = fit.d;
  std::copy(fit.scale.begin(), fit.scale.end(), block.scales);
  for (int i = 0; i < kElements; ++i) {
    const Place p = place(i);
    const int code = fit.level[i] + kForm.zero;
    block.ql[p.low] = static_cast<uint8_t>(block.ql[p.low] | ((code & 0x0f) << p.low_shift));
    block.qh[p.high] = static_cast<uint8_t>(block.qh[p.high] | ((code >> 4) << p.high_shift));
  }
}

}  // namespace nereid::quant
