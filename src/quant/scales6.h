// SPDX-License-Identifier: Apache-2.0
// The 12 bytes in which q4_k and q5_k keep 8 scales and 8 minima of 6 bits each.
//
// Groups 0 to 3: the low six bits of byte g (scale) and byte g + 4 (minimum). Groups 4 to 7: the nibbles of byte g + 4
// give the low four bits (scale low, minimum high); the two bits above come from the tops of bytes g - 4 and g.
#pragma once

#include <cstdint>

namespace nereid::quant {

struct Scales6 {
  uint8_t scale[8];  // 0 to 63
  uint8_t min[8];
};

inline Scales6 unpack_scales6(const uint8_t (&bytes)[12]) {
  Scales6 s{};
  for (int g = 0; g < 4; ++g) {
    s.scale[g] = bytes[g] & 63;
    s.min[g] = bytes[g + 4] & 63;
    s.scale[g + 4] = static_cast<uint8_t>((bytes[g + 8] & 0x0f) | ((bytes[g] >> 6) << 4));
    s.min[g + 4] = static_cast<uint8_t>((bytes[g + 8] >> 4) | ((bytes[g + 4] >> 6) << 4));
  }
  return s;
}

inline void pack_scales6(const Scales6& s, uint8_t (&bytes)[12]) {
  for (int g = 0; g < 4; ++g) {
    bytes[g] = static_cast<uint8_t>(s.scale[g] | ((s.scale[g + 4] >> 4) << 6));
    bytes[g + 4] = static_cast<uint8_t>(s.min[g] | ((s.min[g + 4] >> 4) << 6));
    bytes[g + 8] = static_cast<uint8_t>((s.scale[g + 4] & 0x0f) | ((s.min[g + 4] & 0x0f) << 4));
  }
}

}  // namespace nereid::quant
