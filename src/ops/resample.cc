// SPDX-License-Identifier: Apache-2.0
// Coordinates and filters of resize.
#include "ops/resample.h"

#include <algorithm>
#include <cmath>

namespace nereid::ops {
namespace {

// Where output position o lies in the input. In f32, as the programs do that exporters were tested with: at the edges
// of pixels the last bit decides.
float coordinate(const ResampleRule& rule, const ResampleAxis& a, int64_t position) {
  const float o = static_cast<float>(position), in = static_cast<float>(a.in), out = static_cast<float>(a.out);
  const float asked = a.size > 0 && std::abs(a.size - out) > 1e-5F * out ? a.size : out;
  switch (rule.coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return (o + 0.5F) / a.scale - 0.5F;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      // What was cut off to make the size whole is shared by both ends.
      return in / 2 * (1 - out / asked) + (o + 0.5F) / a.scale - 0.5F;
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return a.out > 1 ? (o + 0.5F) / a.scale - 0.5F : 0.0F;
    case ResizeCoordinates::kAlignCorners:
      return asked > 1 ? o * (in - 1) / (asked - 1) : 0.0F;
    case ResizeCoordinates::kAsymmetric:
      return o / a.scale;
    case ResizeCoordinates::kTfHalfPixelForNn:
      return (o + 0.5F) / a.scale;
    case ResizeCoordinates::kTfCropAndResize: {
      const float start = static_cast<float>(a.start), end = static_cast<float>(a.end);
      return a.out > 1 ? start * (in - 1) + o * (end - start) * (in - 1) / (out - 1) : 0.5F * (start + end) * (in - 1);
    }
  }
  return 0;
}

int64_t nearest_pixel(ResizeNearest how, float x) {
  switch (how) {
    case ResizeNearest::kRoundPreferFloor:
      return static_cast<int64_t>(std::ceil(x - 0.5F));
    case ResizeNearest::kRoundPreferCeil:
      return static_cast<int64_t>(std::floor(x + 0.5F));
    case ResizeNearest::kFloor:
      return static_cast<int64_t>(std::floor(x));
    case ResizeNearest::kCeil:
      break;
  }
  return static_cast<int64_t>(std::ceil(x));
}

double triangle(double x) {
  return std::max(0.0, 1 - std::abs(x));
}

// Keys' cubic convolution kernel.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

void filter(const ResampleRule& rule, const ResampleAxis& a, double x, Samples& samples) {
  const double stretch = rule.antialias ? std::min(static_cast<double>(a.scale), 1.0) : 1.0;
  const double reach = (rule.mode == ResizeMode::kLinear ? 1 : 2) / stretch;
  // A filter that is wider than this sees nothing but edges beyond.
  const double least = -static_cast<double>(a.in) - 8, most = 2 * static_cast<double>(a.in) + 8;
  const auto first = static_cast<int64_t>(std::max(std::floor(x - reach) + 1, least));
  const auto last = static_cast<int64_t>(std::min(std::ceil(x + reach) - 1, most));
  const size_t begin = samples.weights.size();
  double sum = 0;
  for (int64_t i = first; i <= last; ++i) {
    const double d = (static_cast<double>(i) - x) * stretch;
    const double weight = rule.mode == ResizeMode::kLinear ? triangle(d) : cubic(d, rule.cubic_a);
    if (rule.exclude_outside && (i < 0 || i >= a.in)) continue;
    samples.at.push_back(std::clamp<int64_t>(i, 0, a.in - 1));
    samples.weights.push_back(static_cast<float>(weight));
    sum += weight;
  }
  if ((rule.antialias || rule.exclude_outside) && sum != 0)
    for (size_t i = begin; i < samples.weights.size(); ++i)
      samples.weights[i] = static_cast<float>(samples.weights[i] / sum);
}

}  // namespace

Result<ResizeMode> resize_mode(const std::string& text) {
  if (text == "nearest") return ResizeMode::kNearest;
  if (text == "linear") return ResizeMode::kLinear;
  if (text == "cubic") return ResizeMode::kCubic;
  return invalid_argument("mode is '{}'; it should be nearest, linear or cubic", text);
}

Result<ResizeCoordinates> resize_coordinates(const std::string& text) {
  using C = ResizeCoordinates;
  if (text == "half_pixel") return C::kHalfPixel;
  if (text == "half_pixel_symmetric") return C::kHalfPixelSymmetric;
  if (text == "pytorch_half_pixel") return C::kPytorchHalfPixel;
  if (text == "align_corners") return C::kAlignCorners;
  if (text == "asymmetric") return C::kAsymmetric;
  if (text == "tf_half_pixel_for_nn") return C::kTfHalfPixelForNn;
  if (text == "tf_crop_and_resize") return C::kTfCropAndResize;
  return invalid_argument(
      "coordinate_transformation_mode is '{}'; it should be half_pixel, half_pixel_symmetric, pytorch_half_pixel, "
      "align_corners, asymmetric, tf_half_pixel_for_nn or tf_crop_and_resize",
      text);
}

Result<ResizeNearest> resize_nearest(const std::string& text) {
  if (text == "round_prefer_floor" || text.empty()) return ResizeNearest::kRoundPreferFloor;
  if (text == "round_prefer_ceil") return ResizeNearest::kRoundPreferCeil;
  if (text == "floor") return ResizeNearest::kFloor;
  if (text == "ceil") return ResizeNearest::kCeil;
  return invalid_argument("nearest_mode is '{}'; it should be round_prefer_floor, round_prefer_ceil, floor or ceil",
                          text);
}

bool Samples::is_identity(int64_t in) const {
  if (size() != in || at.size() != static_cast<size_t>(in)) return false;
  for (int64_t i = 0; i < in; ++i)
    if (at[static_cast<size_t>(i)] != i) return false;
  return weights.empty();
}

Samples resample(const ResampleRule& rule, const ResampleAxis& a) {
  const bool crops = rule.coordinates == ResizeCoordinates::kTfCropAndResize;
  Samples samples;
  // An axis that keeps its size is read as it is.
  const bool as_is = a.in == a.out && a.scale == 1 && !crops;
  samples.first.reserve(static_cast<size_t>(a.out) + 1);
  for (int64_t o = 0; o < a.out; ++o) {
    float x = as_is ? 0 : coordinate(rule, a, o);
    if (crops) samples.outside.push_back(!(x >= 0 && x <= static_cast<float>(a.in - 1)));
    // Far outside all is edge; this bounds what the conversions below see.
    x = x == x ? std::clamp(x, -4.0F, static_cast<float>(a.in) + 4) : 0;
    if (as_is) {
      samples.at.push_back(o);
    } else if (rule.mode == ResizeMode::kNearest) {
      samples.at.push_back(std::clamp<int64_t>(nearest_pixel(rule.nearest, x), 0, a.in - 1));
    } else {
      filter(rule, a, static_cast<double>(x), samples);
    }
    samples.first.push_back(static_cast<int64_t>(samples.at.size()));
  }
  return samples;
}

}  // namespace nereid::ops
