// SPDX-License-Identifier: Apache-2.0
// Tiles of a product in an order that keeps a block of a in L2 and a pair of panels of b in L1 or L2.
#pragma once

#include "kernels/cpu/isa/gemm_tile.h"

namespace nereid::kernels::NEREID_ISA {

// One rectangle of c: rows [0, rows) and panels [0, panels), all pointers already there.
struct Region {
  const float* const* a = nullptr;  // [segments] row 0 of each
  int64_t a_stride = 0;
  int64_t segments = 1, k = 0;
  int64_t rows = 0;
  const float* b = nullptr;
  bool packed = true;
  int64_t b_stride = kPanelColumns, panel_stride = 0;
  int64_t columns = 0;  // the last panel may be cut
  float* c = nullptr;
  int64_t c_stride = 0;
  const float* residual = nullptr;  // at c's place
  const float* bias = nullptr;      // at c's first column
};

inline constexpr int64_t kMostSegments = 64;
// Bytes of a that stay in L2 while all panels pass over them.
inline constexpr int64_t kBlockBytes = 384 << 10;

// act(v) and the late residual, from a tile's sums to their place.
[[gnu::noinline]] inline void finish_tile(const float* sums, int64_t rows, int64_t columns, const Epilogue& e, float* c,
                                          int64_t c_stride, const float* residual) {
  using namespace simd;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t j = 0; j < columns; j += 16) {
      const int n = static_cast<int>(columns - j < 16 ? columns - j : 16);
      F32 v = activate(e.act, e.alpha, e.beta, load(sums + m * 64 + j));
      float* y = c + m * c_stride + j;
      const float* r = residual + m * e.residual_stride + j;
      if (n == 16) {
        if (residual) v = simd::add(v, load(r));
        store(y, v);
      } else {
        if (residual) v = simd::add(v, load_partial(r, n));
        store_partial(y, v, n);
      }
    }
}

// Rows [row, row + rows) of the region by `panels` panels from `panel` on, in tiles of nearly equal height.
inline void run_rows(const Region& g, const Epilogue& e, int64_t row, int64_t rows, int64_t panel, int panels) {
  const bool simple = is_clamp(e.act) && !(e.residual_last && e.residual && e.act != Act::kNone);
  alignas(64) float sums[kMostTileRows * 64];
  const float* a[kMostSegments];
  const int most = panels == 1 ? simd::kGemmRows1 : panels == 2 ? simd::kGemmRows2 : simd::kGemmRows4;
  const int64_t tiles = (rows + most - 1) / most;
  const int64_t column = panel * kPanelColumns;
  const int64_t columns = g.columns - column < 16 * panels ? g.columns - column : 16 * panels;
  Tile t;
  t.a = a;
  t.a_stride = g.a_stride;
  t.segments = g.segments;
  t.k = g.k;
  t.b = g.b + panel * g.panel_stride;
  t.b_stride = g.b_stride;
  t.panel_stride = g.panel_stride;
  t.bias = g.bias ? g.bias + column : nullptr;
  t.last_columns = static_cast<int>(columns - 16 * (panels - 1));
  t.low = simple ? clamp_low(e) : -__builtin_huge_valf();
  t.high = simple ? clamp_high(e) : __builtin_huge_valf();
  t.residual_stride = e.residual_stride;
  int64_t left = rows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t height = (left + (tiles - i) - 1) / (tiles - i);
    for (int64_t s = 0; s < g.segments; ++s) a[s] = g.a[s] ? g.a[s] + row * g.a_stride : nullptr;
    float* c = g.c + row * g.c_stride + column;
    const float* residual = g.residual ? g.residual + row * e.residual_stride + column : nullptr;
    t.residual = simple || !e.residual_last ? residual : nullptr;
    t.c = simple ? c : sums;
    t.c_stride = simple ? g.c_stride : 64;
    tile_function(panels, g.packed, static_cast<int>(height))(t);
    if (!simple) finish_tile(sums, height, columns, e, c, g.c_stride, e.residual_last ? residual : nullptr);
    row += height;
    left -= height;
  }
}

inline void run_region(const Region& g, const Epilogue& e) {
  const int64_t panels = gemm_panels(g.columns);
  const bool few = g.rows <= simd::kGemmRows4;
  const int64_t fit = kBlockBytes / (g.segments * g.k * 4 + 1) / simd::kGemmRows2 * simd::kGemmRows2;
  const int64_t block = fit > simd::kGemmRows2 ? fit : simd::kGemmRows2;
  for (int64_t row = 0; row < g.rows; row += block) {
    const int64_t rows = g.rows - row < block ? g.rows - row : block;
    int64_t panel = 0;
    if (few)
      for (; panel + 4 <= panels; panel += 4) run_rows(g, e, row, rows, panel, 4);
    for (; panel + 2 <= panels; panel += 2) run_rows(g, e, row, rows, panel, 2);
    if (panel < panels) run_rows(g, e, row, rows, panel, 1);
  }
}

// How a team shares row_units x column_units of equal work: a grid of `down` by `across` workers.
struct Grid {
  int64_t down = 1, across = 1;
};
inline Grid share_grid(int64_t row_units, int64_t column_units, int workers) {
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
