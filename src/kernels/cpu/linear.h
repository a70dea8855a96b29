// SPDX-License-Identifier: Apache-2.0
// y = act(norm(x) . w^T + bias [+ addend]) [* (norm(x) . w_up^T [+ addend])] + residual, weights packed in tiles of 16
// rows.
//
// Integer-coded weights: each token's row is quantised to int8 in groups of 32 columns (scale = amax / 127), products
// are exact in int32 within a group, groups are summed in f32 in column order. Float weights: f32 throughout, columns
// in order. Either way one output element is computed by the same operations in the same order whatever the number of
// tokens or threads, so batching never changes an answer.
//
// Cost: 2 * tokens * rows * cols flops; bytes = the packed weight once + tokens * (cols + rows) * 4.
// Bound: memory for few tokens, the integer (or FMA) pipes from about 8 tokens on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/packed_weight.h"

namespace nereid::kernels {

enum class Activation : uint8_t { kNone, kSilu, kGelu, kGeluTanh, kRelu };

struct LinearParams {
  const float* x = nullptr;  // [tokens, cols]
  int64_t x_stride = 0;      // elements between tokens, here and below
  int64_t tokens = 0;
  PackedWeight weight;
  PackedWeight weight_up;              // data != null: gated, same rows and cols
  const float* bias = nullptr;         // [rows]
  const float* norm_weight = nullptr;  // [cols]: x is rms-normalised first
  float norm_eps = 0;
  Activation activation = Activation::kNone;
  // What is added to some tokens' products (low_rank.h): a pointer a token, null for none. Each to tiles() * 16
  // elements, and behind them as many for weight_up. Of tile t the worker that has it by slice(tiles()) reads 16 and
  // nobody else.
  const float* const* addend = nullptr;
  const float* residual = nullptr;  // [tokens, rows]; may be y
  int64_t residual_stride = 0;
  float* y = nullptr;  // [tokens, rows]
  int64_t y_stride = 0;
  std::byte* scratch = nullptr;  // linear_scratch_bytes(...), 64-byte aligned, shared by all workers
};

// Scratch for up to `tokens` tokens of `cols` columns on `workers` workers, and its two parts: one set of prepared rows
// (a worker's own where tokens are few), and 16 unpacked weight rows a worker.
int64_t linear_scratch_bytes(int64_t tokens, int64_t cols, int workers);
int64_t linear_rows_bytes(int64_t tokens, int64_t cols);
int64_t linear_unpacked_bytes(int64_t cols);

}  // namespace nereid::kernels
