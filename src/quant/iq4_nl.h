// SPDX-License-Identifier: Apache-2.0
// iq4_nl: 32 weights, 4 bits each into a table of uneven levels, one scale: w = d level[q] (its code is level + 128).
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Iq4Nl {
  static constexpr DType kDType = DType::iq4_nl;
  static constexpr int kElements = 32;
  static constexpr GroupForm kForm{.group = 32, .code_bits = 8, .zero = 128, .has_min = false};

  struct Block {
    uint16_t d;      // f16: scale
    uint8_t qs[16];  // nibbles as in q4_0; levels in quant/uneven_levels.h
  };
  static_assert(sizeof(Block) == 18);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
