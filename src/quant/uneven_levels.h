// SPDX-License-Identifier: Apache-2.0
// The 16 levels of iq4_nl and iq4_xs: denser near zero, where weights are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nereid::quant {

// The format's definition: index q of a weight -> level.
inline constexpr std::array<int8_t, 16> kUnevenLevels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                         1,    13,   25,  38,  53,  69,  89,  113};

// The index of the level nearest to v: how many midpoints lie below it. NaN gives 0.
inline int nearest_uneven_index(float v) {
  int index = 0;
  for (size_t i = 0; i + 1 < kUnevenLevels.size(); ++i)
    index += v > 0.5f * static_cast<float>(kUnevenLevels[i] + kUnevenLevels[i + 1]) ? 1 : 0;
  return index;
}

// For fit_scale.
struct UnevenLevels {
  float lo = kUnevenLevels.front();
  float hi = kUnevenLevels.back();
  float step = 1.6f;
  // The level itself: the first one and the steps over every midpoint below v, without a branch.
  float nearest(float v) const {
    float level = lo;
    for (size_t i = 0; i + 1 < kUnevenLevels.size(); ++i) {
      const float midpoint = 0.5f * static_cast<float>(kUnevenLevels[i] + kUnevenLevels[i + 1]);
      const auto step_up = static_cast<float>(kUnevenLevels[i + 1] - kUnevenLevels[i]);
      level += v > midpoint ? step_up : 0.0f;
    }
    return level;
  }
};

}  // namespace nereid::quant
