// SPDX-License-Identifier: Apache-2.0
// How encoders choose scales: least squares over a few candidate step sizes, then the codes nearest to each value.
//
// For given codes q the best scale of w ~ scale * q is sum(x q) / sum(q q), and the error falls by sum(x q)^2 / sum(q
// q); with a minimum it is the usual line fit. Codes and scale depend on each other, so a handful of starting scales
// around "the largest value maps to the largest code" are tried and the best is refined by repeating round-and-fit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "base/float_convert.h"

namespace nereid::quant {

// The nearest integer in [lo, hi]; NaN gives lo, infinities the ends.
inline int round_clamp(float v, int lo, int hi) {
  if (!(v > static_cast<float>(lo))) return lo;
  if (v >= static_cast<float>(hi)) return hi;
  return static_cast<int>(std::nearbyint(v));
}

// As f16 but finite: what a block's scale is stored as.
inline uint16_t finite_f16(float v) {
  constexpr float kLargest = 65504.0f;
  return std::isnan(v) ? uint16_t{0} : f32_to_f16(std::clamp(v, -kLargest, kLargest));
}

// 1 / v, or 0 where that is not finite: a block of zeros has scale 0 and all its codes are `zero`.
inline float inverse_or_zero(float v) {
  const float inverse = 1.0f / v;
  return std::isfinite(inverse) ? inverse : 0.0f;
}

// The levels lo, lo + 1, ..., hi. (uneven_levels.h has the other kind.)
struct IntegerLevels {
  int lo;
  int hi;
  float step = 0.1f;  // how far apart the ends are that fit_scale tries
  int nearest(float v) const { return round_clamp(v, lo, hi); }
};

struct AffineFit {
  float scale = 0;
  float min = 0;
};

// The scale that makes scale * level close to x. `levels` has lo, hi, step and nearest(float) -> int.
template <typename Levels>
float fit_scale(std::span<const float> x, const Levels& levels) {
  float peak = 0;
  for (float v : x)
    if (std::abs(v) > std::abs(peak)) peak = v;
  if (inverse_or_zero(peak) == 0 || !std::isfinite(peak)) return 0;

  struct Sums {
    float xq = 0, qq = 0;
    float gain() const { return qq > 0 ? xq * xq / qq : 0; }
    float scale() const { return qq > 0 ? xq / qq : 0; }
  };
  const auto sums_at = [&](float inverse) {
    Sums s;
    for (float v : x) {
      const auto q = static_cast<float>(levels.nearest(v * inverse));
      s.xq += v * q;
      s.qq += q * q;
    }
    return s;
  };
  Sums best;
  const auto consider = [&](float inverse) {
    const Sums s = sums_at(inverse);
    if (s.gain() <= best.gain()) return false;
    best = s;
    return true;
  };
  // The peak meets a level near the end of the range, on either side.
  constexpr int kTries = 9;
  for (const int end : {levels.lo, levels.hi})
    for (int t = -kTries; t <= kTries; ++t)
      consider((static_cast<float>(end) + levels.step * static_cast<float>(t)) / peak);
  constexpr int kRefinements = 4;
  for (int r = 0; r < kRefinements && consider(inverse_or_zero(best.scale())); ++r) {
  }
  return best.scale();
}

// The line scale * q + min, q in [0, top], close to x. With `min_at_most_zero` (formats whose minimum is stored as an
// unsigned subtrahend) min <= 0.
inline AffineFit fit_affine(std::span<const float> x, int top, bool min_at_most_zero) {
  auto [low, high] = std::minmax_element(x.begin(), x.end());
  float lo = *low;
  float hi = *high;
  if (min_at_most_zero) lo = std::min(lo, 0.0f);
  if (!std::isfinite(lo) || !std::isfinite(hi)) return {};
  if (inverse_or_zero(hi - lo) == 0) return {.scale = 0, .min = lo};

  const auto n = static_cast<float>(x.size());
  AffineFit best{.scale = (hi - lo) / static_cast<float>(top), .min = lo};
  float best_error = std::numeric_limits<float>::infinity();
  // Rounds with a given line, fits the line to the codes, keeps it if it is better.
  const auto consider = [&](float inverse, float origin) {
    float sum_q = 0, sum_qq = 0, sum_x = 0, sum_xq = 0;
    for (float v : x) {
      const auto q = static_cast<float>(round_clamp((v - origin) * inverse, 0, top));
      sum_q += q;
      sum_qq += q * q;
      sum_x += v;
      sum_xq += v * q;
    }
    AffineFit fit;
    const float determinant = n * sum_qq - sum_q * sum_q;
    if (determinant <= 0) return false;
    fit.scale = (n * sum_xq - sum_x * sum_q) / determinant;
    fit.min = (sum_x - fit.scale * sum_q) / n;
    if (min_at_most_zero && fit.min > 0) fit = {.scale = sum_xq / sum_qq, .min = 0};
    if (fit.scale <= 0) return false;
    const float fit_inverse = inverse_or_zero(fit.scale);
    float error = 0;
    for (float v : x) {
      const auto q = static_cast<float>(round_clamp((v - fit.min) * fit_inverse, 0, top));
      const float d = v - (fit.scale * q + fit.min);
      error += d * d;
    }
    if (error >= best_error) return false;
    best = fit;
    best_error = error;
    return true;
  };
  constexpr int kFirst = -8, kLast = 12;
  constexpr float kStep = 0.1f;
  for (int t = kFirst; t <= kLast; ++t)
    consider((static_cast<float>(top) + kStep * static_cast<float>(t)) / (hi - lo), lo);
  constexpr int kRefinements = 4;
  for (int r = 0; r < kRefinements && consider(inverse_or_zero(best.scale), best.min); ++r) {
  }
  return best;
}

}  // namespace nereid::quant
