// SPDX-License-Identifier: Apache-2.0
// q5_k: 256 weights, 5 bits each; 8 groups of 32 with 6-bit scales and minima: w = d sc q - dmin m.
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q5K {
  static constexpr DType kDType = DType::q5_k;
  static constexpr int kElements = 256;
  static constexpr GroupForm kForm{.group = 32, .code_bits = 5, .zero = 0, .has_min = true};

  struct Block {
    uint16_t d;          // f16: scale of the scales
    uint16_t dmin;       // f16: scale of the minima
    uint8_t scales[12];  // see quant/scales6.h
    uint8_t qh[32];      // fifth bit of weight i of group g: bit g of qh[i]
    uint8_t qs[128];     // low four bits, as in q4_k
  };
  static_assert(sizeof(Block) == 176);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
