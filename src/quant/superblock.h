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

// The squared error of a group when every value takes its nearest level of this scale.
template <int kGroup, typename Levels>
float symmetric_error(const float* x, const Levels& levels, float scale) {
  const float inverse = inverse_or_zero(scale);
  return lane_sum<kGroup>([&](size_t i) {
    const float difference = x[i] - scale * levels.nearest(x[i] * inverse);
    return difference * difference;
  });
}

// `scales` is the range of the integer scales; its lo end is the one of larger magnitude.
template <int kGroup, typename Levels>
SymmetricSuperblock<kGroup> fit_symmetric_superblock(const float* x, const Levels& levels, IntegerLevels scales) {
  constexpr int kGroups = kSuperblock / kGroup;
  std::array<float, kGroups> fitted;
  float peak = 0;
  for (int g = 0; g < kGroups; ++g) {
    fitted[g] = fit_scale(std::span<const float, kGroup>(x + g * kGroup, kGroup), levels);
    if (std::abs(fitted[g]) > std::abs(peak)) peak = fitted[g];
  }
  SymmetricSuperblock<kGroup> best;
  float best_error = std::numeric_limits<float>::infinity();
  // With few integer scales the grid matters: the largest fitted scale is put on one of the last grid points.
  for (const float grid_point : {0.0f, 0.5f, 1.0f, 1.5f}) {
    SymmetricSuperblock<kGroup> tried;
    tried.d = finite_f16(peak / (scales.lo + grid_point));
    const float d = f16_to_f32(tried.d);
    float error = 0;
    for (int g = 0; g < kGroups; ++g) {
      const auto centre = static_cast<int>(scales.nearest(fitted[g] * inverse_or_zero(d)));
      float group_error = std::numeric_limits<float>::infinity();
      for (int s = centre - 1; s <= centre + 1; ++s) {
        if (static_cast<float>(s) < scales.lo || static_cast<float>(s) > scales.hi) continue;
        const float e = symmetric_error<kGroup>(x + g * kGroup, levels, d * static_cast<float>(s));
        if (!(e < group_error)) continue;
        group_error = e;
        tried.scale[g] = static_cast<int8_t>(s);
      }
      error += group_error;
    }
    if (!(error < best_error)) continue;
    best_error = error;
    best = tried;
  }
  for (int i = 0; i < kSuperblock; ++i) {
    const float scale = f16_to_f32(best.d) * static_cast<float>(best.scale[i / kGroup]);
    best.level[i] = static_cast<int8_t>(levels.nearest(x[i] * inverse_or_zero(scale)));
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

template <int kGroup>
float affine_error(const float* x, int top, float scale, float min) {
  const float inverse = inverse_or_zero(scale);
  return lane_sum<kGroup>([&](size_t i) {
    const float difference = x[i] - min - scale * round_between((x[i] - min) * inverse, 0, static_cast<float>(top));
    return difference * difference;
  });
}

// Codes from 0 to `top_code`; scales and minima from 0 to `top_scale`.
template <int kGroup>
AffineSuperblock<kGroup> fit_affine_superblock(const float* x, int top_code, int top_scale) {
  constexpr int kGroups = kSuperblock / kGroup;
  std::array<AffineFit, kGroups> fitted;
  float largest_scale = 0;
  float lowest_min = 0;
  for (int g = 0; g < kGroups; ++g) {
    fitted[g] = fit_affine(std::span<const float, kGroup>(x + g * kGroup, kGroup), top_code, /*min_at_most_zero=*/true);
    largest_scale = std::max(largest_scale, fitted[g].scale);
    lowest_min = std::min(lowest_min, fitted[g].min);
  }
  AffineSuperblock<kGroup> out;
  out.d = finite_f16(largest_scale / static_cast<float>(top_scale));
  out.dmin = finite_f16(-lowest_min / static_cast<float>(top_scale));
  const float d = f16_to_f32(out.d);
  const float dmin = f16_to_f32(out.dmin);
  for (int g = 0; g < kGroups; ++g) {
    const float* group = x + g * kGroup;
    const int scale_centre = round_clamp(fitted[g].scale * inverse_or_zero(d), 0, top_scale);
    const int min_centre = round_clamp(-fitted[g].min * inverse_or_zero(dmin), 0, top_scale);
    float best_error = std::numeric_limits<float>::infinity();
    for (int s = std::max(0, scale_centre - 1); s <= std::min(top_scale, scale_centre + 1); ++s)
      for (int m = std::max(0, min_centre - 1); m <= std::min(top_scale, min_centre + 1); ++m) {
        const float error =
            affine_error<kGroup>(group, top_code, d * static_cast<float>(s), -(dmin * static_cast<float>(m)));
        if (!(error < best_error)) continue;
        best_error = error;
        out.scale[g] = static_cast<uint8_t>(s);
        out.min[g] = static_cast<uint8_t>(m);
      }
    const float inverse = inverse_or_zero(d * static_cast<float>(out.scale[g]));
    const float min = -(dmin * static_cast<float>(out.min[g]));
    for (int i = 0; i < kGroup; ++i)
      out.code[g * kGroup + i] = static_cast<uint8_t>(round_clamp((group[i] - min) * inverse, 0, top_code));
  }
  return out;
}

}  // namespace nereid::quant
