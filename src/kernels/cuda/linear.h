// SPDX-License-Identifier: Apache-2.0
// y = act(x . w^T + bias) [* (x . w_up^T + bias_up)] + residual: matrix products of a few tokens with a streamed
// weight, and of many.
//
// linear takes any number of tokens and chooses:
// linear_few (up to 16 tokens, and of coded and of small weights up to kFewTokens) reads each weight once, straight
// into the registers of mma.m16n8k16 (weights are the 16 rows, tokens the 8 columns), in f32 sums. The columns are cut
// into 8 slices summed by 8 warps and added in order. linear_mid (sm_90, 17 to 128 tokens of f16 and bf16, 256 of f8)
// streams weights into shared memory, for wgmma; linear_many is wgmma for more.
//   Bytes: the weight once + tokens * (cols + rows) elements; flops: 2 * tokens * rows * cols. Bound: memory; for
//   prompts the matrix units.
// A token's result has equal bits for any number of tokens up to 16, and from 17 to 64.
// Reached on an H200 (share of a copy): f16 92 to 111 % at one token, 71 to 108 % at 32 (4096 x 4096: 71), 59 to 100 %
// at 64, 46 to 97 % at 128; f8 67 to 90 % at one, 35 to 74 % at 64, i8 89 %, i4 58 % at one. 2048 tokens: 583 to 741
// Tflop/s.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/weight.h"

namespace nereid::kernels::cuda {

inline constexpr int64_t kFewTokens = 64;
inline constexpr int64_t kNarrowTokens = 16;
// Weights of which the second-level cache keeps so much that reading them again costs little.
inline constexpr int64_t kSmallWeights = int64_t{1} << 21;

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
