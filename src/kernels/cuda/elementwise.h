// SPDX-License-Identifier: Apache-2.0
// The small steps between matrix products: gates, sums, row selection, casts. Bytes: every operand once. Bound: memory,
// or a launch's latency at few tokens, which is why `linear` takes activation, bias, gate and residual along.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/weight.h"

namespace nereid::kernels::cuda {

// y = act(gate) * up; up null: y = act(gate).
struct GatedParams {
  Element element = Element::kF16;
  const void* gate = nullptr;  // [tokens, cols]
  int64_t gate_stride = 0;
  const void* up = nullptr;
  int64_t up_stride = 0;
  int64_t tokens = 0, cols = 0;
  Activation activation = Activation::kSilu;
  void* y = nullptr;  // may be gate or up
  int64_t y_stride = 0;
};
void gated(const GatedParams& params, const Queue& queue);

// y = factor * x + b (b null: no sum), then cap * tanh(y / cap) where cap != 0. x and y may differ in element type.
struct ScaleAddParams {
  Element x_element = Element::kF16;  // kF32, kF16 or kBF16; of x and b
  Element y_element = Element::kF16;
  const void* x = nullptr;
  int64_t x_stride = 0;
  const void* b = nullptr;
  int64_t b_stride = 0;
  int64_t tokens = 0, cols = 0;
  float factor = 1, cap = 0;
  void* y = nullptr;
  int64_t y_stride = 0;
};
void scale_add(const ScaleAddParams& params, const Queue& queue);

// y[i] = x[rows[i]]
struct SelectRowsParams {
  Element element = Element::kF16;  // kF32, kF16 or kBF16
  const void* x = nullptr;
  int64_t x_stride = 0;
  const int32_t* rows = nullptr;  // [count]
  int64_t count = 0, cols = 0;
  void* y = nullptr;
  int64_t y_stride = 0;
};
void select_rows(const SelectRowsParams& params, const Queue& queue);

// y[t] = factor * weight row ids[t], of any weight there is; an id outside the rows gives zeros.
struct EmbeddingParams {
  Element element = Element::kF16;  // of y
  const int32_t* ids = nullptr;     // [tokens]
  int64_t tokens = 0;
  Weight weight;
  float factor = 1;
  void* y = nullptr;  // [tokens, weight.cols]
  int64_t y_stride = 0;
};
void embedding(const EmbeddingParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
