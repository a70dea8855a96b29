// SPDX-License-Identifier: Apache-2.0
// The 16 levels of iq4_nl and iq4_xs: denser near zero, where weights are.
#pragma once

#include <array>
#include <cstdint>

namespace nereid::quant {

// The format's definition: index q of a weight -> level.
inline constexpr std::array<int8_t, 16> kUnevenLevels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                         1,    13,   25,  38,  53,  69,  89,  113};

// The index of the level nearest to v; NaN gives an end.
inline int nearest_uneven_index(float v) {
  int index = 0;
  // The first level whose midpoint with the next one lies above v.
  while (index < 15 && v > 0.5f * static_cast<float>(kUnevenLevels[index] + kUnevenLevels[index + 1])) ++index;
  return index;
}

// For fit_scale.
struct UnevenLevels {
  int lo = kUnevenLevels.front();
  int hi = kUnevenLevels.back();
  float step = 1.6f;
  int nearest(float v) const { return kUnevenLevels[nearest_uneven_index(v)]; }
};

}  // namespace nereid::quant
