// SPDX-License-Identifier: Apache-2.0
// The bit packings that several block formats share: two 4-bit codes a byte, a block's first half in the low nibbles.
#pragma once

#include <cstdint>

namespace nereid::quant {

// packed[n / 2] <-> codes[n]: codes[i] low nibble, codes[i + n / 2] high nibble of packed[i].
template <int kN>
void unpack_nibbles(const uint8_t* packed, uint8_t* codes) {
  for (int i = 0; i < kN / 2; ++i) {
    codes[i] = packed[i] & 0x0f;
    codes[i + kN / 2] = packed[i] >> 4;
  }
}
template <int kN>
void pack_nibbles(const uint8_t* codes, uint8_t* packed) {
  for (int i = 0; i < kN / 2; ++i)
    packed[i] = static_cast<uint8_t>((codes[i] & 0x0f) | ((codes[i + kN / 2] & 0x0f) << 4));
}

// The fifth bits of 32 codes, one bit each in four bytes, first code lowest.
inline void add_fifth_bits(const uint8_t (&high)[4], uint8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>(codes[i] | (((high[i / 8] >> (i % 8)) & 1) << 4));
}
inline void take_fifth_bits(const uint8_t* codes, uint8_t (&high)[4]) {
  for (uint8_t& byte : high) byte = 0;
  for (int i = 0; i < 32; ++i) high[i / 8] = static_cast<uint8_t>(high[i / 8] | (((codes[i] >> 4) & 1) << (i % 8)));
}

}  // namespace nereid::quant
