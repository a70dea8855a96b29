// SPDX-License-Identifier: Apache-2.0
// How encoders choose scales: least squares over a few candidate step sizes, then the codes nearest to each value.
//
// For given codes q the best scale of w ~ scale * q is sum(x q) / sum(q q), and the error falls by sum(x q)^2 / sum(q
// q); with a minimum it is the usual line fit. Codes and scale depend on each other, so a handful of starting scales
// around "the largest value maps to the largest code" are tried and the best is refined by repeating round-and-fit.
//
// Loops run over kLanes independent sums, because a compiler may vectorise those without being allowed to reorder a
// sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include "base/float_convert.h"

namespace nereid::quant {

inline constexpr size_t kLanes = 8;

// The nearest integer in [lo, hi], ties to even; NaN gives lo, infinities the ends. |lo|, |hi| below 2^22.
inline float round_between(float v, float lo, float hi) {
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  constexpr float kAligner = 12582912.0f;  // 1.5 * 2^23: its last mantissa bit weighs 1
  return (v + kAligner) - kAligner;
}
inline int round_clamp(float v, int lo, int hi) {
  return static_cast<int>(round_between(v, static_cast<float>(lo), static_cast<float>(hi)));
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
  float lo;
  float hi;
  float step = 0.1f;  // how far apart the ends are that fit_scale tries
  float nearest(float v) const { return round_between(v, lo, hi); }
};

// One sum per lane, of f(i) for i in [0, N).
template <size_t N, typename F>
float lane_sum(F f) {
  static_assert(N % kLanes == 0);
  float lanes[kLanes] = {};
  for (size_t i = 0; i < N; i += kLanes)
    for (size_t l = 0; l < kLanes; ++l) lanes[l] += f(i + l);
  return std::accumulate(lanes, lanes + kLanes, 0.0f);
}

// The scale that makes scale * level close to x. `levels` has lo, hi, step and nearest(float), as IntegerLevels has.
template <size_t N, typename Levels>
float fit_scale(std::span<const float, N> x, const Levels& levels) {
  float peak = 0;
  for (float v : x)
    if (std::abs(v) > std::abs(peak)) peak = v;
  if (inverse_or_zero(peak) == 0 || !std::isfinite(peak)) return 0;

  float best_scale = 0;
  float best_gain = 0;
  // Rounds with a given step, fits the scale to the levels, keeps it if the error falls further.
  const auto consider = [&](float inverse) {
    float xq_lanes[kLanes] = {};
    float qq_lanes[kLanes] = {};
    for (size_t i = 0; i < N; i += kLanes)
      for (size_t l = 0; l < kLanes; ++l) {
        const float q = levels.nearest(x[i + l] * inverse);
        xq_lanes[l] += x[i + l] * q;
        qq_lanes[l] += q * q;
      }
    const float xq = std::accumulate(xq_lanes, xq_lanes + kLanes, 0.0f);
    const float qq = std::accumulate(qq_lanes, qq_lanes + kLanes, 0.0f);
    const float gain = xq * xq / qq;
    if (!(gain > best_gain)) return false;
    best_gain = gain;
    best_scale = xq / qq;
    return true;
  };
  // The peak meets a level near the end of the range, on either side.
  constexpr int kTries = 9;
  for (const float end : {levels.lo, levels.hi})
    for (int t = -kTries; t <= kTries; ++t) consider((end + levels.step * static_cast<float>(t)) / peak);
  constexpr int kRefinements = 4;
  for (int r = 0; r < kRefinements && consider(inverse_or_zero(best_scale)); ++r) {
  }
  return best_scale;
}

struct AffineFit {
  float scale = 0;
  float min = 0;
};

// The line scale * q + min, q in [0, top_code], close to x. With `min_at_most_zero` (formats whose minimum is stored as
// an unsigned subtrahend) min <= 0.
template <size_t N>
AffineFit fit_affine(std::span<const float, N> x, int top_code, bool min_at_most_zero) {
  const auto top = static_cast<float>(top_code);
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const float origin = min_at_most_zero ? std::min(*low, 0.0f) : *low;
  const float range = *high - origin;
  if (!std::isfinite(range)) return {};
  if (inverse_or_zero(range) == 0) return {.scale = 0, .min = origin};

  // Everything below is about x - origin, in [0, range]: sums of squares of a narrow band far from zero would cancel.
  float shifted[N];
  for (size_t i = 0; i < N; ++i) shifted[i] = x[i] - origin;
  constexpr auto kN = static_cast<float>(N);
  const float sum_x = lane_sum<N>([&](size_t i) { return shifted[i]; });
  const float sum_xx = lane_sum<N>([&](size_t i) { return shifted[i] * shifted[i]; });

  AffineFit best{.scale = range / top, .min = 0};
  float best_error = std::numeric_limits<float>::infinity();
  // Rounds with a given line, fits the line to the codes, keeps it if it is better.
  const auto consider = [&](float inverse, float min) {
    float q_lanes[kLanes] = {};
    float qq_lanes[kLanes] = {};
    float xq_lanes[kLanes] = {};
    for (size_t i = 0; i < N; i += kLanes)
      for (size_t l = 0; l < kLanes; ++l) {
        const float q = round_between((shifted[i + l] - min) * inverse, 0, top);
        q_lanes[l] += q;
        qq_lanes[l] += q * q;
        xq_lanes[l] += shifted[i + l] * q;
      }
    const float sum_q = std::accumulate(q_lanes, q_lanes + kLanes, 0.0f);
    const float sum_qq = std::accumulate(qq_lanes, qq_lanes + kLanes, 0.0f);
    const float sum_xq = std::accumulate(xq_lanes, xq_lanes + kLanes, 0.0f);
    const float determinant = kN * sum_qq - sum_q * sum_q;
    if (determinant <= 0) return false;
    AffineFit fit;
    fit.scale = (kN * sum_xq - sum_x * sum_q) / determinant;
    fit.min = (sum_x - fit.scale * sum_q) / kN;
    if (min_at_most_zero && fit.min + origin > 0)  // through zero, which is at -origin here
      fit = {.scale = (sum_xq + origin * sum_q) / sum_qq, .min = -origin};
    const float error = sum_xx - 2 * (fit.scale * sum_xq + fit.min * sum_x) + fit.scale * fit.scale * sum_qq +
                        2 * fit.scale * fit.min * sum_q + kN * fit.min * fit.min;
    if (!(fit.scale > 0) || !(error < best_error)) return false;
    best = fit;
    best_error = error;
    return true;
  };
  constexpr int kFirst = -8, kLast = 12;
  constexpr float kStep = 0.1f;
  for (int t = kFirst; t <= kLast; ++t) consider((top + kStep * static_cast<float>(t)) / range, 0);
  constexpr int kRefinements = 4;
  for (int r = 0; r < kRefinements && consider(inverse_or_zero(best.scale), best.min); ++r) {
  }
  return {.scale = best.scale, .min = best.min + origin};
}

}  // namespace nereid::quant
