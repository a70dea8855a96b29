// SPDX-License-Identifier: Apache-2.0
// Encoding 256 weights whose groups have small integer scales (the k formats and iq4_xs): per-group fits, one or two
// f16 factors over all of them, then for each group the integer scale whose true error is least.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "quant/fit.h"

namespace nereid::quant {

inline constexpr int kSuperblock = 256;

// w = d * scale[g] * level[i]
template <int kGroup>
struct SymmetricSuperblock {
  uint16_t d = 0;  // f16
  std::array<int8_t, kSuperblock / kGroup> scale{};
  std::array<int8_t, kSuperblock> level{};
};

// The integer scale in [first, last] whose rounded levels leave the least squared error, which is returned; infinity,
// and nothing written, if x is not finite.
template <int kGroup, typename Levels>
float best_group_scale(const float* x, const Levels& levels, float d, int first, int last, int8_t& scale_out,
                       int8_t* levels_out) {
  float best_error = std::numeric_limits<float>::infinity();
  for (int s = first; s <= last; ++s) {
    const float scale = d * static_cast<float>(s);
    const float inverse = inverse_or_zero(scale);
    float error = 0;
    std::array<int8_t, kGroup> level;
    for (int i = 0; i < kGroup; ++i) {
      level[i] = static_cast<int8_t>(levels.nearest(x[i] * inverse));
      const float difference = x[i] - scale * static_cast<float>(level[i]);
      error += difference * difference;
    }
    if (error >= best_error) continue;
    best_error = error;
    scale_out = static_cast<int8_t>(s);
    std::copy(level.begin(), level.end(), levels_out);
  }
  return best_error;
}

// `scales` is the range of the integer scales; its lo end is the one of larger magnitude.
template <int kGroup, typename Levels>
SymmetricSuperblock<kGroup> fit_symmetric_superblock(const float* x, const Levels& levels, IntegerLevels scales) {
  constexpr int kGroups = kSuperblock / kGroup;
  std::array<float, kGroups> fitted;
  float peak = 0;
  for (int g = 0; g < kGroups; ++g) {
    fitted[g] = fit_scale(std::span(x + g * kGroup, kGroup), levels);
    if (std::abs(fitted[g]) > std::abs(peak)) peak = fitted[g];
  }
  SymmetricSuperblock<kGroup> best;
  float best_error = std::numeric_limits<float>::infinity();
  // With few integer scales the grid matters: the largest fitted scale is put on one of the last grid points.
  for (const float grid_point : {0.0f, 0.5f, 1.0f, 1.5f}) {
    SymmetricSuperblock<kGroup> tried;
    tried.d = finite_f16(peak / (static_cast<float>(scales.lo) + grid_point));
    const float d = f16_to_f32(tried.d);
    float error = 0;
    for (int g = 0; g < kGroups; ++g) {
      const int centre = scales.nearest(fitted[g] * inverse_or_zero(d));
      error +=
          best_group_scale<kGroup>(x + g * kGroup, levels, d, std::max(scales.lo, centre - 1),
                                   std::min(scales.hi, centre + 1), tried.scale[g], tried.level.data() + g * kGroup);
    }
    if (error >= best_error) continue;
    best_error = error;
    best = tried;
  }
  return best;
}

// w = d * scale[g] * code[i] - dmin * min[g]
template <int kGroup>
struct AffineSuperblock {
  uint16_t d = 0;     // f16
  uint16_t dmin = 0;  // f16
  std::array<uint8_t, kSuperblock / kGroup> scale{};
  std::array<uint8_t, kSuperblock / kGroup> min{};
  std::array<uint8_t, kSuperblock> code{};
};

// Codes from 0 to `top_code`; scales and minima from 0 to `top_scale`.
template <int kGroup>
AffineSuperblock<kGroup> fit_affine_superblock(const float* x, int top_code, int top_scale) {
  constexpr int kGroups = kSuperblock / kGroup;
  std::array<AffineFit, kGroups> fitted;
  float largest_scale = 0;
  float lowest_min = 0;
  for (int g = 0; g < kGroups; ++g) {
    fitted[g] = fit_affine(std::span(x + g * kGroup, kGroup), top_code, /*min_at_most_zero=*/true);
    largest_scale = std::max(largest_scale, fitted[g].scale);
    lowest_min = std::min(lowest_min, fitted[g].min);
  }
  AffineSuperblock<kGroup> out;
  out.d = finite_f16(largest_scale / static_cast<float>(top_scale));
  out.dmin = finite_f16(-lowest_min / static_cast<float>(top_scale));
  const float d = f16_to_f32(out.d);
  const float dmin = f16_to_f32(out.dmin);
  const float d_inverse = inverse_or_zero(d);
  const float dmin_inverse = inverse_or_zero(dmin);
  const auto around = [&](float v) {
    const int centre = round_clamp(v, 0, top_scale);
    return std::pair(std::max(0, centre - 1), std::min(top_scale, centre + 1));
  };
  for (int g = 0; g < kGroups; ++g) {
    const float* group = x + g * kGroup;
    const auto [first_scale, last_scale] = around(fitted[g].scale * d_inverse);
    const auto [first_min, last_min] = around(-fitted[g].min * dmin_inverse);
    float best_error = std::numeric_limits<float>::infinity();
    for (int s = first_scale; s <= last_scale; ++s)
      for (int m = first_min; m <= last_min; ++m) {
        const float scale = d * static_cast<float>(s);
        const float min = -(dmin * static_cast<float>(m));
        const float scale_inverse = inverse_or_zero(scale);
        float error = 0;
        std::array<uint8_t, kGroup> code;
        for (int i = 0; i < kGroup; ++i) {
          code[i] = static_cast<uint8_t>(round_clamp((group[i] - min) * scale_inverse, 0, top_code));
          const float difference = group[i] - (scale * static_cast<float>(code[i]) + min);
          error += difference * difference;
        }
        if (error >= best_error) continue;
        best_error = error;
        out.scale[g] = static_cast<uint8_t>(s);
        out.min[g] = static_cast<uint8_t>(m);
        std::copy(code.begin(), code.end(), out.code.begin() + g * kGroup);
      }
  }
  return out;
}

}  // namespace nereid::quant
