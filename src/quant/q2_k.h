// SPDX-License-Identifier: Apache-2.0
// q2_k: 256 weights, 2 bits each; 16 groups of 16 with 4-bit scales and minima: w = d sc q - dmin m.
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q2K {
  static constexpr DType kDType = DType::q2_k;
  static constexpr int kElements = 256;
  static constexpr GroupForm kForm{.group = 16, .code_bits = 2, .zero = 0, .has_min = true};

  struct Block {
    uint8_t scales[16];  // of group g: sc in the low nibble, m in the high nibble
    uint8_t qs[64];      // see quant/planes.h
    uint16_t d;          // f16: scale of the scales
    uint16_t dmin;       // f16: scale of the minima
  };
  static_assert(sizeof(Block) == 84);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
