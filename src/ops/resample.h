// SPDX-License-Identifier: Apache-2.0
// Along which positions of an axis a resized tensor reads: the coordinate rules and filters of resize, one axis each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::ops {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize
};
enum class ResizeNearest : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResampleAxis {
  int64_t in = 0, out = 0;
  float scale = 1;            // as given, or out / in
  float size = 0;             // as asked for; where a scale gives no whole number, a little over `out`
  double start = 0, end = 1;  // the part that kTfCropAndResize reads, as shares of the axis
};

struct ResampleRule {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

// What each output position reads: positions of the input, which may repeat at the edges, and their weights.
struct Samples {
  std::vector<int64_t> first = {0};  // where those of each output position begin, and where the last ones end
  std::vector<int64_t> at;
  std::vector<float> weights;  // empty: each reads one position
  std::vector<bool> outside;   // kTfCropAndResize only: the position lies outside the input; else empty

  int64_t size() const { return static_cast<int64_t>(first.size()) - 1; }
  bool is_outside(int64_t o) const { return !outside.empty() && outside[static_cast<size_t>(o)]; }
  // Whether the axis is read as it is.
  bool is_identity(int64_t in) const;
};

Result<ResizeMode> resize_mode(const std::string& text);
Result<ResizeCoordinates> resize_coordinates(const std::string& text);
Result<ResizeNearest> resize_nearest(const std::string& text);

// in > 0.
Samples resample(const ResampleRule& rule, const ResampleAxis& axis);

}  // namespace nereid::ops
