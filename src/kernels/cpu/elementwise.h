// SPDX-License-Identifier: Apache-2.0
// Row-wise and elementwise steps between the matrix products. All are bound by memory (or by latency at one token).
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/linear.h"

namespace nereid::kernels {

// y[t] = weight row ids[t]. An id outside [0, rows) gives zeros: the runtime checks ids before it gets here.
struct EmbeddingParams {
  const int32_t* ids = nullptr;  // [tokens]
  int64_t tokens = 0;
  PackedWeight weight;
  float* y = nullptr;
  int64_t y_stride = 0;
};

// y = x / rms(x) * weight + residual, over groups of `group` elements of each row (group == cols: the whole row).
struct RmsNormParams {
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t tokens = 0, cols = 0, group = 0;
  const float* weight = nullptr;  // [group] or null
  float eps = 0;
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  float* y = nullptr;  // may be x or residual
  int64_t y_stride = 0;
};

// y = act(gate) * up
struct GatedParams {
  const float* gate = nullptr;
  int64_t gate_stride = 0;
  const float* up = nullptr;
  int64_t up_stride = 0;
  int64_t tokens = 0, cols = 0;
  Activation activation = Activation::kSilu;
  float* y = nullptr;
  int64_t y_stride = 0;
};

// y = a + b, rows of equal length.
struct AddParams {
  const float* a = nullptr;
  int64_t a_stride = 0;
  const float* b = nullptr;
  int64_t b_stride = 0;
  int64_t tokens = 0, cols = 0;
  float* y = nullptr;
  int64_t y_stride = 0;
};

// y = factor * x, or cap * tanh(x / cap) with cap != 0.
struct ScaleParams {
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t tokens = 0, cols = 0;
  float factor = 1, cap = 0;
  float* y = nullptr;
  int64_t y_stride = 0;
};

// y[i] = x[rows[i]]
struct SelectRowsParams {
  const float* x = nullptr;
  int64_t x_stride = 0;
  const int32_t* rows = nullptr;
  int64_t count = 0, cols = 0;
  float* y = nullptr;
  int64_t y_stride = 0;
};

}  // namespace nereid::kernels
