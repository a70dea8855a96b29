// SPDX-License-Identifier: Apache-2.0
// Pooling, resizing and layout changes of channels-last images in f32. Bound by memory, all of them.
//
// Pooling takes 8-bit codes too: the largest code is a code again, the mean of codes is f32 (zero point and scale are
// the caller's). Pixels are rows of c numbers with a stride, an image is h * w such rows, as in conv.h.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels {

struct PoolParams {
  enum class Kind : uint8_t { kMax, kAverage, kAverageWithPad };  // kAverageWithPad divides by the padded window's size
  Kind kind = Kind::kMax;
  int64_t batch = 1, in_h = 1, in_w = 1, c = 1, out_h = 1, out_w = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;  // the last two: how far kAverageWithPad counts
  LowType x_type = LowType::kF32;                                    // or kU8, kS8
  const void* x = nullptr;
  int64_t x_stride = 0;
  void* y = nullptr;  // as x for kMax, else f32
  int64_t y_stride = 0;
};

// y[n, c] = mean or max over the h * w pixels of image n; sums in pixel order.
struct GlobalPoolParams {
  bool is_max = false;
  int64_t batch = 1, pixels = 1, c = 1;
  LowType x_type = LowType::kF32;
  const void* x = nullptr;
  int64_t x_stride = 0;
  void* y = nullptr;
  int64_t y_stride = 0;
};

// y[oh, ow] = sum of the four (or one, if all *_weight are null) neighbours: the source rows and columns of each result
// row and column come as tables, so that every coordinate rule of ONNX fits.
//   y = (1 - wy) ((1 - wx) x[y0, x0] + wx x[y0, x1]) + wy ((1 - wx) x[y1, x0] + wx x[y1, x1])
struct ResizeParams {
  int64_t batch = 1, in_h = 1, in_w = 1, c = 1, out_h = 1, out_w = 1;
  const int32_t *y0 = nullptr, *y1 = nullptr;  // [out_h], y1 and y_weight null: nearest
  const float* y_weight = nullptr;
  const int32_t *x0 = nullptr, *x1 = nullptr;  // [out_w]
  const float* x_weight = nullptr;
  const float* x = nullptr;
  int64_t x_stride = 0;
  float* y = nullptr;
  int64_t y_stride = 0;
};

// y[b, j, i] = x[b, i, j] with i < rows, j < cols: NCHW -> NHWC has rows = c, cols = h w, and back the other way round.
struct TransposeParams {
  int64_t batch = 1, rows = 0, cols = 0;
  const float* x = nullptr;
  int64_t x_stride = 0, x_batch_stride = 0;  // elements between rows, between matrices
  float* y = nullptr;
  int64_t y_stride = 0, y_batch_stride = 0;
};

}  // namespace nereid::kernels
