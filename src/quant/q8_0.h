// SPDX-License-Identifier: Apache-2.0
// q8_0: 32 weights, 8 bits each, one scale: w = d q, q from -127 to 127 (its code is q + 128).
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q8_0 {
  static constexpr DType kDType = DType::q8_0;
  static constexpr int kElements = 32;
  static constexpr GroupForm kForm{.group = 32, .code_bits = 8, .zero = 128, .has_min = false};

  struct Block {
    uint16_t d;     // f16: scale
    int8_t qs[32];  // q of weight i
  };
  static_assert(sizeof(Block) == 34);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
