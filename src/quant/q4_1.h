// SPDX-License-Identifier: Apache-2.0
// q4_1: 32 weights, 4 bits each, a scale and a minimum: w = d q + m.
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q4_1 {
  static constexpr DType kDType = DType::q4_1;
  static constexpr int kElements = 32;
  static constexpr GroupForm kForm{.group = 32, .code_bits = 4, .zero = 0, .has_min = true};

  struct Block {
    uint16_t d;      // f16: scale
    uint16_t m;      // f16: minimum
    uint8_t qs[16];  // q of weight i: low nibble of qs[i]; of weight i + 16: high nibble
  };
  static_assert(sizeof(Block) == 20);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
