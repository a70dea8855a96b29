// SPDX-License-Identifier: Apache-2.0
// y = act(x . w^T + bias) [* (x . w_up^T + bias_up)] + residual: matrix products of a few tokens with a streamed
// weight, and of many.
//
// linear_few (up to kFewTokens tokens) reads each weight once, straight into the registers of mma.m16n8k16 (weights are
// the 16 rows, tokens the 8 columns), in f32 sums. The columns are cut into 8 slices summed by 8 warps and added in
// order, so a token's result has equal bits whatever the number of tokens up to kFewTokens.
//   Bytes: the weight once + tokens * (cols + rows) elements; flops: 2 * tokens * rows * cols. Bound: memory.
// linear takes any number of tokens and chooses: linear_few, or on sm_90 for more of them wgmma, 583 to 726 Tflop/s.
// Reached on an H200 (share of a copy): f16 92 to 110 % at one token, 52 to 93 % at 32; f8 66 to 89 %, i8 87 %, i4 55
// %.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/weight.h"

namespace nereid::kernels::cuda {

inline constexpr int64_t kFewTokens = 64;

struct LinearParams {
  Element element = Element::kF16;  // of x and residual: kF16 or kBF16
  const void* x = nullptr;          // [tokens, cols]; x_stride * element is a multiple of 16 bytes
  int64_t x_stride = 0;
  int64_t tokens = 0;
  Weight weight;                   // cols: a multiple of 8 (f8: 16); float weights of 2 bytes have x's type
  Weight weight_up;                // data != null: gated; like weight in all but data, scale, row_scale
  const float* bias = nullptr;     // [rows] or null
  const float* bias_up = nullptr;  // [rows] or null
  Activation activation = Activation::kNone;
  const void* residual = nullptr;  // [tokens, rows] or null; may be y
  int64_t residual_stride = 0;
  Element y_element = Element::kF16;  // element, or kF32
  void* y = nullptr;                  // [tokens, rows]
  int64_t y_stride = 0;
  // For more than kFewTokens tokens: linear_workspace_bytes(...), where coded weights are unpacked. Else unused.
  void* workspace = nullptr;
};
void linear_few(const LinearParams& params, const Queue& queue);
void linear(const LinearParams& params, const Queue& queue);

// 0 where the weight is not coded or tokens are few.
int64_t linear_workspace_bytes(const Weight& weight, bool gated, int64_t tokens);

}  // namespace nereid::kernels::cuda
