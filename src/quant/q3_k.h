// SPDX-License-Identifier: Apache-2.0
// q3_k: 256 weights, 3 bits each; 16 groups of 16 with 6-bit scales: w = d (sc - 32) (q - 4).
#pragma once

#include "quant/block_format.h"

namespace nereid::quant {

struct Q3K {
  static constexpr DType kDType = DType::q3_k;
  static constexpr int kElements = 256;
  static constexpr GroupForm kForm{.group = 16, .code_bits = 3, .zero = 4, .has_min = false};

  struct Block {
    uint8_t hmask[32];   // third bits, see quant/planes.h
    uint8_t qs[64];      // low two bits, see quant/planes.h
    uint8_t scales[12];  // 16 scales of 6 bits: low nibbles in bytes 0 to 7, high pairs in bytes 8 to 11
    uint16_t d;          // f16: scale of the scales
  };
  static_assert(sizeof(Block) == 110);

  static void unpack(const Block& block, uint8_t* codes, float* scale, float* min);
  static void encode(const float* src, Block& block);
};

}  // namespace nereid::quant
