// SPDX-License-Identifier: Apache-2.0
// From logits to tokens: the largest logit, the k largest, and a draw among them. Bytes: logits once. Bound: memory,
// latency at one row. Ties go to the lowest token id; NaN counts as the smallest.
#pragma once

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

// ids[r] = argmax of row r.
struct ArgmaxParams {
  const float* logits = nullptr;  // [rows, vocab]
  int64_t stride = 0;
  int64_t rows = 0, vocab = 0;
  int32_t* ids = nullptr;   // [rows]
  float* values = nullptr;  // [rows] or null
  // 16 bytes a row: 0 before the first launch, and 0 again after every launch.
  void* workspace = nullptr;
};
void argmax(const ArgmaxParams& params, const Queue& queue);

inline constexpr int kMaxTopK = 128;

// The k largest of each row, largest first, and log(sum(exp(row))), which makes log probabilities of them.
struct TopKParams {
  const float* logits = nullptr;
  int64_t stride = 0;
  int64_t rows = 0, vocab = 0;   // vocab >= k
  int k = 0;                     // 1 to kMaxTopK
  int32_t* ids = nullptr;        // [rows, k]
  float* values = nullptr;       // [rows, k]
  float* log_sum_exp = nullptr;  // [rows] or null
};
void top_k(const TopKParams& params, const Queue& queue);

// A token from each row's k candidates (largest first): softmax(values / temperature), the shortest head whose sum
// reaches top_p, those of at least min_p times the first's probability, then the draw by `uniform` in [0, 1).
struct DrawParams {
  const int32_t* ids = nullptr;   // [rows, k]
  const float* values = nullptr;  // [rows, k]
  int64_t rows = 0;
  int k = 0;
  const float* temperature = nullptr;  // [rows]; 0: the first
  const float* top_p = nullptr;        // [rows] or null
  const float* min_p = nullptr;        // [rows] or null
  const float* uniform = nullptr;      // [rows]
  int32_t* tokens = nullptr;           // [rows]
};
void draw(const DrawParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
