// SPDX-License-Identifier: Apache-2.0
// What the pooling ops share: their attributes, shape rule, and the reduction of windows one axis after the other.
//
// Largest, sum and sum of powers over a window are those over its rows of the same over its columns, so a window of
// k1 x k2 x ... costs k1 + k2 + ... steps an output.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/elements.h"
#include "ops/op.h"
#include "ops/shape_rule.h"
#include "ops/window.h"

namespace nereid::ops {

constexpr AttrSpec kPoolCeilMode = {"ceil_mode", AttrSpec::Kind::kBool, "false",
                                    "sizes round up: the last window may be cut off"};
constexpr AttrSpec kPoolKernelShape = {"kernel_shape", AttrSpec::Kind::kInts, "", "the window, one a spatial axis"};

// The attributes; kInvalidArgument unless kernel_shape has `axes` numbers and the pads are smaller than the windows.
Result<Windows> read_pool(const Attrs& attrs, size_t axes);
// Checks that the input `x` is an image and gives the result's shape.
Result<Shape> pool_shape(const InferContext& ctx);
// Every output sees the whole window: as many operations as taps.
Cost pool_cost(const InferContext& ctx, std::span<const TensorType> outputs);

// Windows along one axis of x [outer, a.in, inner], each reduced by sum = f(sum, value) from `empty` on.
template <typename T, typename F>
Elements<T> pool_axis(const Elements<T>& x, const WindowAxis& a, int64_t outer, int64_t inner, T empty, F&& f) {
  Elements<T> y(outer * a.out * inner, empty);
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t o = 0; o < a.out; ++o) {
      T* dst = y.data() + (i * a.out + o) * inner;
      const auto taps = a.taps(o);
      for (int64_t t = taps.first; t < taps.last; ++t) {
        const T* src = x.data() + (i * a.in + a.start(o) + t * a.dilation) * inner;
        for (int64_t k = 0; k < inner; ++k) dst[k] = f(dst[k], src[k]);
      }
    }
  return y;
}

// The same for all axes of x [planes, in...], the last one first.
template <typename T, typename F>
Elements<T> pool_axes(Elements<T> x, int64_t planes, std::span<const WindowAxis> axes, T empty, F&& f) {
  int64_t inner = 1;
  for (size_t d = axes.size(); d-- > 0;) {
    int64_t outer = planes;
    for (size_t e = 0; e < d; ++e) outer *= axes[e].in;
    x = pool_axis(x, axes[d], outer, inner, empty, f);
    inner *= axes[d].out;
  }
  return x;
}

}  // namespace nereid::ops
