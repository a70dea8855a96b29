// SPDX-License-Identifier: Apache-2.0
// The 2-bit packing of q2_k and q3_k: each half of 128 codes is four planes of 32 in 32 bytes, first plane in the low
// bits.
#pragma once

#include <cstdint>

namespace nereid::quant {

// packed[64] <-> the low two bits of codes[256]: code 128 h + 32 p + l is bits 2p, 2p + 1 of packed[32 h + l].
inline void unpack_planes(const uint8_t (&packed)[64], uint8_t* codes) {
  for (int i = 0; i < 256; ++i) codes[i] = (packed[i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32))) & 3;
}
inline void pack_planes(const uint8_t* codes, uint8_t (&packed)[64]) {
  for (uint8_t& byte : packed) byte = 0;
  for (int i = 0; i < 256; ++i) {
    uint8_t& byte = packed[i / 128 * 32 + i % 32];
    byte = static_cast<uint8_t>(byte | ((codes[i] & 3) << (2 * (i % 128 / 32))));
  }
}

}  // namespace nereid::quant
