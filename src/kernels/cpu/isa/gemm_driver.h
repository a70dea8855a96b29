// SPDX-License-Identifier: Apache-2.0
// A rectangle of a product or convolution as one worker does it, and how a team shares the whole.
#pragma once

#include "kernels/cpu/gemm.h"

namespace nereid::kernels::NEREID_ISA {

// One rectangle of c, all pointers at its corner. Rows of a come in groups (the output rows of an image): a_stride
// apart within one, and groups a_group_stride apart; rows of c follow each other, or its groups are apart likewise.
struct Region {
  const float* const* a = nullptr;  // [segments] row 0 of each; null: zeros
  int64_t a_stride = 0;
  int64_t segments = 1, k = 0;
  int64_t rows = 0;  // of a group
  int64_t groups = 1, a_group_stride = 0;
  const float* b = nullptr;
  int64_t b_stride = kPanelColumns, panel_stride = 0;
  int64_t columns = 0;  // the last panel may be cut
  float* c = nullptr;
  int64_t c_stride = 0, c_group_stride = 0;  // 0: a group follows the one before
  const float* residual = nullptr;           // at c's place
  int64_t residual_group_stride = 0;         // where c_group_stride is not 0
  const float* bias = nullptr;               // at c's first column
  GemmBlocking blocking;
};

inline constexpr int64_t kMostSegments = 64;

// The whole region on the calling thread (gemm.cc).
void run_region(const Region& g, const Epilogue& e);

// How a team shares row_units x column_units of equal work: a grid of `down` by `across` workers.
struct Grid {
  int64_t down = 1, across = 1;
};
inline Grid share_grid(int64_t row_units, int64_t column_units, int workers, int wanted_across = 0) {
  if (wanted_across > 0 && wanted_across <= workers) return {workers / wanted_across, wanted_across};
  Grid best;
  int64_t best_cost = row_units * column_units;
  for (int64_t across = 1; across <= workers; ++across) {
    const int64_t down = workers / across;
    const int64_t tall = (row_units + down - 1) / down, wide = (column_units + across - 1) / across;
    // The largest share counts; of equal ones the squarer, which reads least.
    const int64_t cost = tall * wide * 64 + tall + wide;
    if (across == 1 || cost < best_cost) {
      best = {down, across};
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace nereid::kernels::NEREID_ISA
