// SPDX-License-Identifier: Apache-2.0
// q5_1: 32 weights, 5 bits each, a scale and a minimum: w = d q + m.
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q5_1 {
  static constexpr DType kDType = DType::q5_1;
  static constexpr int kElements = 32;
  static constexpr GroupForm kForm{.group = 32, .code_bits = 5, .zero = 0, .has_min = true};

  struct Block {
    uint16_t d;      // f16: scale
    uint16_t m;      // f16: minimum
    uint8_t qh[4];   // fifth bit of weight i: bit i % 8 of qh[i / 8]
    uint8_t qs[16];  // low four bits, as in q4_0
  };
  static_assert(sizeof(Block) == 24);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
