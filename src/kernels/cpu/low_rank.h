// SPDX-License-Identifier: Apache-2.0
// addend = B (A norm(x)) scale: what low-rank adapters (LoRA) add to the product of a linear, for rows that carry one.
//
//   h[t][k]      = scale * sum_c A[k][c] * norm(x[t])[c]     16 sums of columns c mod 16 in column order, then over
//   them addend[t][r] = sum_k B[r][k] * h[t][k]                   in order of k; several parts of a row of B are summed
//   in order
//
// All in f32. An element is computed by the same operations whatever else is in the call and however many workers there
// are. A worker writes the addends of exactly those tiles of 16 rows that linear.h gives it (`worker.slice(tiles)`), so
// linear may follow without a barrier.
//
// Cost: 2 * tokens * rank * (cols + rows) flops; bytes = A and B once a group of tokens. One or two barriers; none
// where the work of A is so small that each worker does all of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/packed_weight.h"

namespace nereid::kernels {

// Of one adapter, for one matrix or for a run of its rows.
struct LowRankPart {
  Codes codes = Codes::kF32;        // of A and B: kF32, kF16 or kBF16
  const std::byte* down = nullptr;  // A: [rank, cols], a row padded to low_rank_columns(cols) with zeros
  const std::byte* up = nullptr;  // B: tiles of 16 rows, column after column, as kernels/cpu/packed_weight.h has floats
  int64_t rank = 0;
  int64_t first_tile = 0, tiles = 0;  // which tiles of the product they are
  float scale = 1;
};

// Tokens that carry the same adapter.
struct LowRankGroup {
  const int32_t* tokens = nullptr;  // [count] rows of x, none twice
  int64_t count = 0;
  const LowRankPart* parts = nullptr;  // by first tile
  int64_t part_count = 0;
};

struct LowRankParams {
  const float* x = nullptr;
  int64_t x_stride = 0;  // elements
  int64_t cols = 0;
  const float* norm_weight = nullptr;  // [cols]: x is rms-normalised first, as linear does it
  float norm_eps = 0;
  const LowRankGroup* groups = nullptr;
  int64_t group_count = 0;
  int64_t tokens = 0;    // of all groups
  int64_t ranks = 0;     // the largest sum of a group's ranks
  int64_t tiles = 0;     // of 16 rows of one matrix
  int64_t matrices = 1;  // 2: gate and up; parts of up have tiles from `tiles` on
  // [tokens, matrices * tiles * 16]: the groups' tokens in order, whole rows, zero where no part is.
  float* addend = nullptr;
  std::byte* scratch = nullptr;  // low_rank_scratch_bytes(...), 64-byte aligned, shared by all workers
};

// So few tokens may be every worker's own work.
inline constexpr int64_t kLowRankPrivateTokens = 2;

int64_t low_rank_columns(int64_t cols);  // a multiple of 16
int64_t low_rank_scratch_bytes(int64_t tokens, int64_t cols, int64_t ranks, int workers);

}  // namespace nereid::kernels
