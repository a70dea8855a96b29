// SPDX-License-Identifier: Apache-2.0
// iq4_xs: 256 weights, 4 bits each into a table of uneven levels; 8 groups of 32 with 6-bit scales: w = d (sc - 32)
// level[q].
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Iq4Xs {
  static constexpr DType kDType = DType::iq4_xs;
  static constexpr int kElements = 256;
  static constexpr GroupForm kForm{.group = 32, .code_bits = 8, .zero = 128, .has_min = false};

  struct Block {
    uint16_t d;           // f16: scale of the scales
    uint16_t scales_h;    // high two bits of sc of group g: bits 2g and 2g + 1
    uint8_t scales_l[4];  // low four bits of sc of groups 2i and 2i + 1: nibbles of scales_l[i]
    uint8_t qs[128];      // 16 bytes a group, nibbles as in q4_0; levels in quant/uneven_levels.h
  };
  static_assert(sizeof(Block) == 136);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
