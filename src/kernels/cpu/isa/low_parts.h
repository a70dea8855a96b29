// SPDX-License-Identifier: Apache-2.0
// What low_precision.cc chooses from, and how sums of quantised layers become codes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels {

// The sums of 32 columns on their way to codes of type u8 (low_codes.h prepares it); the same for all instruction sets.
struct LowCodes {
  // What is added to a sum, and what makes it a number in units of the result's scale, or of the grid's.
  alignas(64) int32_t begin[32] = {};
  bool begun = false;  // the sums have that in them
  alignas(64) float scale[32] = {};
  alignas(64) float bias[32] = {};
  bool bounded = true;  // whether numbers must be kept below `high` before they become whole
  float high = 0;
  int32_t zero = 0;
  // With a residual: codes between bounds, times a scale, plus the residual's codes times theirs and a shift.
  float grid_low = 0, grid_high = 0, grid_scale = 0, residual_scale = 0, residual_shift = 0;
  const std::byte* residual = nullptr;  // row 0 of the tile, first column
  int64_t residual_stride = 0;
  std::byte* y = nullptr;
  int64_t y_stride = 0;
};

}  // namespace nereid::kernels

namespace nereid::kernels::NEREID_ISA {

// Of a tile's sums [rows][32]. AMX has avx512's.
void put_low_codes(const LowCodes& c, const std::byte* sums, int64_t rows);
// Products and codes at once, for which is_short holds (low_tile.h); no residual.
struct LowTile;
void put_short_codes(const LowCodes& c, const LowTile& t, int64_t rows);

void low_depthwise(const LowConvParams& p, Worker& worker);
void low_depthwise_quads(const LowConvParams& p, Worker& worker);

}  // namespace nereid::kernels::NEREID_ISA
