// SPDX-License-Identifier: Apache-2.0
// q4_0: 32 weights, 4 bits each, one scale: w = d (q - 8).
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q4_0 {
  static constexpr DType kDType = DType::q4_0;
  static constexpr int kElements = 32;
  static constexpr GroupForm kForm{.group = 32, .code_bits = 4, .zero = 8, .has_min = false};

  struct Block {
    uint16_t d;      // f16: scale
    uint8_t qs[16];  // q of weight i: low nibble of qs[i]; of weight i + 16: high nibble
  };
  static_assert(sizeof(Block) == 18);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
