// SPDX-License-Identifier: Apache-2.0
// Row norms with the residual sum in front of them, in f32 whatever the elements.
//
//   v = x + residual                               (rounded to the element type where `sum` is stored, as the model has
//   it) rms_norm:    y = v / sqrt(mean(v^2) + eps) * weight [+ after] layer_norm:  y = (v - mean(v)) / sqrt(var(v) +
//   eps) * weight + bias
// Bytes: (2 + residual + sum + after) * cols * tokens elements; 4 flops an element. Bound: latency at few tokens (one
// block a row), else memory. A row's result does not depend on how many rows there are.
#pragma once

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

struct RmsNormParams {
  Element element = Element::kF16;  // of x, residual, sum, after, y: kF16 or kBF16
  const void* x = nullptr;          // [tokens, cols]
  int64_t x_stride = 0;
  int64_t tokens = 0, cols = 0;    // cols: a multiple of 8, up to 65536
  const void* residual = nullptr;  // [tokens, cols] or null
  int64_t residual_stride = 0;
  void* sum = nullptr;  // [tokens, cols] or null; may be x or residual
  int64_t sum_stride = 0;
  const float* weight = nullptr;  // [cols] or null
  float eps = 0;
  const void* after = nullptr;  // [tokens, cols] or null: added behind the norm (Gemma's second residual)
  int64_t after_stride = 0;
  void* y = nullptr;  // [tokens, cols]; may be x or after
  int64_t y_stride = 0;
};
void rms_norm(const RmsNormParams& params, const Queue& queue);

struct LayerNormParams {
  Element element = Element::kF16;
  const void* x = nullptr;
  int64_t x_stride = 0;
  int64_t tokens = 0, cols = 0;
  const void* residual = nullptr;
  int64_t residual_stride = 0;
  void* sum = nullptr;
  int64_t sum_stride = 0;
  const float* weight = nullptr;  // [cols] or null
  const float* bias = nullptr;    // [cols] or null
  float eps = 0;
  void* y = nullptr;
  int64_t y_stride = 0;
};
void layer_norm(const LayerNormParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
