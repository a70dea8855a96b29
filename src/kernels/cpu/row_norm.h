// SPDX-License-Identifier: Apache-2.0
// Softmax, layer norm and sums over the rows of a matrix in f32. Bound by memory; sums in 16 lanes in column order.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace nereid::kernels {

// y = e^(s x + mask - max) / sum, or its logarithm. The mask repeats: row r adds mask row r / mask_repeat % mask_rows.
struct SoftmaxParams {
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t rows = 0, cols = 0;
  float scale = 1;
  bool is_log = false;
  const float* mask = nullptr;  // [mask_rows, cols] or null
  int64_t mask_stride = 0, mask_rows = 1, mask_repeat = 1;
  float* y = nullptr;  // may be x
  int64_t y_stride = 0;
};

// y = (v - mean) / sqrt(variance + eps) * weight + bias, v = x + residual; v itself goes to `sum` if asked.
struct LayerNormParams {
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t rows = 0, cols = 0;
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  const float* weight = nullptr;  // [cols] or null
  const float* bias = nullptr;    // [cols] or null
  float eps = 0;
  bool is_rms = false;   // no mean: v / sqrt(mean of squares + eps) * weight + bias
  float* sum = nullptr;  // [rows, cols] or null; may be x or residual
  int64_t sum_stride = 0;
  float* y = nullptr;  // may be x
  int64_t y_stride = 0;
};

// y[r] = sum, mean, max or min of row r.
struct RowReduceParams {
  enum class Kind : uint8_t { kSum, kMean, kMax, kMin, kSumSquares, kL2 };
  Kind kind = Kind::kSum;
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t rows = 0, cols = 0;
  float* y = nullptr;
  int64_t y_stride = 1;
};

}  // namespace nereid::kernels
