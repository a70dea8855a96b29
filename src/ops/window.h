// SPDX-License-Identifier: Apache-2.0
// Windows that slide over the spatial dimensions of images [N, C, d1, d2, ...]: the geometry that convolution, pooling
// and their reverses share.
//
// Output o of an axis looks through `kernel` taps at the positions o * stride - begin + tap * dilation of the input;
// positions outside are padding. The attributes are ONNX's: strides, dilations, pads (all begins, then all ends),
// auto_pad, ceil_mode.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "base/status.h"
#include "ops/op.h"

namespace nereid::ops {

// The attributes that every op with windows may have.
inline constexpr AttrSpec kWindowAutoPad = {"auto_pad", AttrSpec::Kind::kString, "NOTSET",
                                            "NOTSET (pads), SAME_UPPER, SAME_LOWER or VALID"};
inline constexpr AttrSpec kWindowDilations = {"dilations", AttrSpec::Kind::kInts, "[]",
                                              "distance of taps, one a spatial axis; empty: 1"};
inline constexpr AttrSpec kWindowPads = {"pads", AttrSpec::Kind::kInts, "[]",
                                         "padding: all begins, then all ends; empty: 0"};
inline constexpr AttrSpec kWindowStrides = {"strides", AttrSpec::Kind::kInts, "[]",
                                            "steps, one a spatial axis; empty: 1"};

enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };

struct WindowAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t begin = 0;  // padding before the input
  int64_t end = 0;    // and after it
  int64_t in = 0;     // sizes of input and output
  int64_t out = 0;

  struct Taps {
    int64_t first, last;  // [first, last)
    int64_t count() const { return last - first; }
  };
  // From the first tap to the last.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  int64_t start(int64_t o) const { return o * stride - begin; }
  // The taps of output o that see the input.
  Taps taps(int64_t o) const { return taps_within(o, 0, in); }
  // Those that see the input or its padding.
  Taps padded_taps(int64_t o) const { return taps_within(o, -begin, in + end); }

 private:
  Taps taps_within(int64_t o, int64_t low, int64_t high) const;
};

struct Windows {
  std::vector<WindowAxis> axes;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
};

// The attributes for as many axes as `kernel` has; lists that are empty mean 1 (strides, dilations) or 0 (pads). Every
// number is checked: none is negative, none above 2^30. `ceil_mode` and `auto_pad` are read where the op has them.
Result<Windows> read_windows(const Attrs& attrs, std::span<const int64_t> kernel);

// Sets `in`, `out` and the padding that auto_pad chooses. kInvalidArgument if not even the padded input holds a window.
Status fit(Windows& windows, size_t axis, int64_t in);
// fit of every axis: `sizes` are those of the image, the spatial ones after batch and channel.
Status fit_image(Windows& windows, std::span<const int64_t> sizes);

// The output's size for a size that may be a symbol: the same symbol where the window keeps the size, else unknown.
Result<Dim> fit_dim(const Windows& windows, size_t axis, const Dim& in);
// The shape of an image seen through windows: the first two dimensions as they are.
Result<Shape> fit_shape(const Windows& windows, const Shape& image);

// kInvalidArgument unless input 0 has a batch, a channel and at least one spatial dimension.
Status is_image(const TensorType& type, std::string_view name);

// Goes through all positions of a space of `sizes` in row-major order: the last coordinate fastest.
class Positions {
 public:
  explicit Positions(std::vector<int64_t> sizes);
  std::span<const int64_t> at() const { return at_; }
  int64_t operator[](size_t axis) const { return at_[axis]; }
  void next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      if (++at_[d] < sizes_[d]) return;
      at_[d] = 0;
    }
  }

 private:
  std::vector<int64_t> sizes_, at_;
};

// Product; the sizes are those of a tensor that exists, so it does not overflow.
int64_t product_of(std::span<const int64_t> sizes);

}  // namespace nereid::ops
