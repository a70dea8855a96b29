// SPDX-License-Identifier: Apache-2.0
// q6_k: 256 weights, 6 bits each; 16 groups of 16 with 8-bit scales: w = d sc (q - 32).
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q6K {
  static constexpr DType kDType = DType::q6_k;
  static constexpr int kElements = 256;
  static constexpr GroupForm kForm{.group = 16, .code_bits = 6, .zero = 32, .has_min = false};

  struct Block {
    uint8_t ql[128];    // low four bits: of each half of 128 weights, runs 0, 1 | 2, 3 of 32 in the low | high nibbles
    uint8_t qh[64];     // high two bits: of each half, run r of 32 in bits 2r and 2r + 1
    int8_t scales[16];  // sc of each group
    uint16_t d;         // f16: scale of the scales
  };
  static_assert(sizeof(Block) == 210);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
