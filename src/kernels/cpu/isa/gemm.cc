// SPDX-License-Identifier: Apache-2.0
// gemm: shares c among the team, and packs run-time matrices.
#include "kernels/cpu/isa/gemm_driver.h"
#include "kernels/cpu/isa/gemm_tile.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

// Bytes of a that stay in L2 while all panels pass over them.
constexpr int64_t kBlockBytes = 384 << 10;

// act(v) and the late residual, from a tile's sums to their place. kAct: known when this is compiled; kNone: any.
template <Act kAct>
[[gnu::noinline]] void finish_as(const float* sums, int64_t rows, int64_t columns, const Epilogue& e, float* c,
                                 int64_t c_stride, const float* residual) {
  using namespace simd;
  const F32 scale = set1(e.scale), shift = set1(e.shift);
  const bool scaled = e.scale != 1 || e.shift != 0;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t j = 0; j < columns; j += 16) {
      const int n = static_cast<int>(columns - j < 16 ? columns - j : 16);
      F32 v = activate(kAct == Act::kNone ? e.act : kAct, e.alpha, e.beta, load(sums + m * 64 + j));
      if (scaled) v = simd::fma(v, scale, shift);
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

void finish_tile(const float* sums, int64_t rows, int64_t columns, const Epilogue& e, float* c, int64_t c_stride,
                 const float* residual) {
  // Those that take no longer than finding out which one it is.
  if (e.act == Act::kHardSwish) return finish_as<Act::kHardSwish>(sums, rows, columns, e, c, c_stride, residual);
  if (e.act == Act::kRelu) return finish_as<Act::kRelu>(sums, rows, columns, e, c, c_stride, residual);
  finish_as<Act::kNone>(sums, rows, columns, e, c, c_stride, residual);
}

// Groups [group, group + groups) of the region by `panels` panels from `panel` on, in tiles of nearly equal height.
void run_groups(const Region& g, const Epilogue& e, int64_t group, int64_t groups, int64_t panel, int panels) {
  const bool simple = is_clamp(e) && !(e.residual_last && e.residual && e.act != Act::kNone);
  alignas(64) float sums[kMostTileRows * 64];
  const float* a[kMostSegments];
  const int most = panels == 1 ? simd::kGemmRows1 : panels == 2 ? simd::kGemmRows2 : simd::kGemmRows4;
  const int64_t tiles = (g.rows + most - 1) / most;
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
  const int64_t c_group = g.c_group_stride != 0 ? g.c_group_stride : g.rows * g.c_stride;
  const int64_t residual_group = g.c_group_stride != 0 ? g.residual_group_stride : g.rows * e.residual_stride;
  for (int64_t n = group; n < group + groups; ++n) {
    int64_t row = 0;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t height = (g.rows - row + (tiles - i) - 1) / (tiles - i);
      const int64_t offset = n * g.a_group_stride + row * g.a_stride;
      for (int64_t s = 0; s < g.segments; ++s) a[s] = g.a[s] ? g.a[s] + offset : nullptr;
      float* c = g.c + n * c_group + row * g.c_stride + column;
      const float* residual = g.residual ? g.residual + n * residual_group + row * e.residual_stride + column : nullptr;
      t.residual = simple || !e.residual_last ? residual : nullptr;
      t.c = simple ? c : sums;
      t.c_stride = simple ? g.c_stride : 64;
      tile_function(panels, static_cast<int>(height))(t);
      if (!simple) finish_tile(sums, height, columns, e, c, g.c_stride, e.residual_last ? residual : nullptr);
      row += height;
    }
  }
}

// Panels to a tile. Few rows: as many as there are, for b is read but once. Otherwise two where the registers then hold
// as many rows as beside one (AVX-512); where they do not, one: the same sums a tile, but a panel stays in L1 and is
// read a third as often (AVX2: ResNet-50's products take 0.6 to 0.95 of the time, SSE: 0.85).
int tile_panels(int64_t rows) {
  if (rows <= simd::kGemmRows4) return 4;
  return simd::kGemmRows1 > simd::kGemmRows2 && rows > simd::kGemmRows2 ? 1 : 2;
}

// All panels over some groups that stay in L2 meanwhile.
void run_block(const Region& g, const Epilogue& e, int64_t group, int64_t groups) {
  const int64_t panels = gemm_panels(g.columns);
  const int wide = g.blocking.panels > 0 ? g.blocking.panels : tile_panels(g.rows);
  int64_t panel = 0;
  if (wide >= 4)
    for (; panel + 4 <= panels; panel += 4) run_groups(g, e, group, groups, panel, 4);
  if (wide >= 2)
    for (; panel + 2 <= panels; panel += 2) run_groups(g, e, group, groups, panel, 2);
  for (; panel < panels; ++panel) run_groups(g, e, group, groups, panel, 1);
}

}  // namespace

void run_region(const Region& g, const Epilogue& e) {
  const int64_t row_bytes = (g.segments * g.k + g.columns) * 4;
  const int64_t block_bytes = g.blocking.block_kib > 0 ? int64_t{g.blocking.block_kib} << 10 : kBlockBytes;
  if (g.groups > 1) {
    const int64_t fit = block_bytes / (row_bytes * g.rows);
    const int64_t block = fit > 1 ? fit : 1;
    for (int64_t group = 0; group < g.groups; group += block)
      run_block(g, e, group, g.groups - group < block ? g.groups - group : block);
    return;
  }
  // A single group is cut by rows.
  const int64_t fit = block_bytes / row_bytes / kMostTileRows * kMostTileRows;
  const int64_t block = fit > kMostTileRows ? fit : kMostTileRows;
  for (int64_t row = 0; row < g.rows; row += block) {
    const float* a[kMostSegments];
    for (int64_t s = 0; s < g.segments; ++s) a[s] = g.a[s] ? g.a[s] + row * g.a_stride : nullptr;
    Region part = g;
    part.a = a;
    part.rows = g.rows - row < block ? g.rows - row : block;
    part.c = g.c + row * g.c_stride;
    if (g.residual) part.residual = g.residual + row * e.residual_stride;
    run_block(part, e, 0, 1);
  }
}

namespace {

void run_part(const GemmParams& p, int64_t outer, int64_t inner, int64_t row_begin, int64_t row_end,
              int64_t panel_begin, int64_t panel_end) {
  if (row_begin >= row_end || panel_begin >= panel_end) return;
  const float* a = p.a + outer * p.outer.a + inner * p.inner.a + row_begin * p.a_stride;
  const int64_t column = panel_begin * kPanelColumns;
  Region g;
  g.a = &a;
  g.a_stride = p.a_stride;
  g.k = p.k;
  g.rows = row_end - row_begin;
  const bool packed = p.b_stride == 0;
  g.b_stride = packed ? kPanelColumns : p.b_stride;
  g.panel_stride = packed ? kPanelColumns * p.k : kPanelColumns;
  g.b = p.b + outer * p.outer.b + inner * p.inner.b + panel_begin * g.panel_stride;
  const int64_t column_end = panel_end * kPanelColumns < p.n ? panel_end * kPanelColumns : p.n;
  g.columns = column_end - column;
  g.c = p.c + outer * p.outer.c + inner * p.inner.c + row_begin * p.c_stride + column;
  g.c_stride = p.c_stride;
  g.bias = p.epilogue.bias ? p.epilogue.bias + column : nullptr;
  g.blocking = p.blocking;
  if (p.epilogue.residual)
    g.residual = p.epilogue.residual + outer * p.outer.residual + inner * p.inner.residual +
                 row_begin * p.epilogue.residual_stride + column;
  run_region(g, p.epilogue);
}

// Cuts [0, units) into `parts` and gives part i, in units of `unit` clipped to `total`.
struct Span {
  int64_t begin, end;
};
Span part_of(int64_t units, int64_t parts, int64_t i, int64_t unit, int64_t total) {
  const int64_t begin = units * i / parts * unit, end = units * (i + 1) / parts * unit;
  return {begin < total ? begin : total, end < total ? end : total};
}

}  // namespace

void gemm(const GemmParams& p, Worker& worker) {
  if (p.m == 0 || p.n == 0) return;
  const int64_t height = p.m < simd::kGemmRows2 ? p.m : simd::kGemmRows2;
  const int64_t row_units = (p.m + height - 1) / height;
  const int64_t panels = gemm_panels(p.n);
  const int64_t batch = p.outer.count * p.inner.count;
  if (batch > 1) {
    const auto [begin, end] = worker.slice(batch * row_units);
    for (int64_t u = begin; u < end;) {
      const int64_t b = u / row_units, first = u % row_units;
      const int64_t last = first + (end - u) < row_units ? first + (end - u) : row_units;
      run_part(p, b / p.inner.count, b % p.inner.count, first * height, last * height < p.m ? last * height : p.m, 0,
               panels);
      u += last - first;
    }
    return;
  }
  const int64_t column_units = (panels + 1) / 2;
  const Grid grid = share_grid(row_units, column_units, worker.count(), p.blocking.across);
  const int64_t i = worker.index() / grid.across, j = worker.index() % grid.across;
  if (i >= grid.down) return;
  const Span rows = part_of(row_units, grid.down, i, height, p.m);
  const Span columns = part_of(column_units, grid.across, j, 2, panels);
  run_part(p, 0, 0, rows.begin, rows.end, columns.begin, columns.end);
}

void gemm_pack(const GemmPackParams& p, Worker& worker) {
  using namespace simd;
  const int64_t panels = gemm_panels(p.n);
  const auto [begin, end] = worker.slice(panels * p.batch * p.batch_outer);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t panel = i % panels, b = i / panels;
    const float* src = p.b + b % p.batch * p.b_batch_stride + b / p.batch * p.b_outer_stride;
    float* dst = p.packed + i * kPanelColumns * p.k;
    const int64_t column = panel * kPanelColumns;
    const int n = static_cast<int>(p.n - column < 16 ? p.n - column : 16);
    if (!p.transposed) {
      src += column;
      if (n == 16)
        for (int64_t k = 0; k < p.k; ++k) store(dst + 16 * k, load(src + k * p.b_stride));
      else
        for (int64_t k = 0; k < p.k; ++k) store(dst + 16 * k, load_partial(src + k * p.b_stride, n));
      continue;
    }
    src += column * p.b_stride;
    int64_t k = 0;
    for (; k + 16 <= p.k; k += 16) transpose16(src + k, p.b_stride, n, dst + 16 * k, 16);
    for (; k < p.k; ++k)
      for (int j = 0; j < 16; ++j) dst[16 * k + j] = j < n ? src[j * p.b_stride + k] : 0;
  }
}

}  // namespace nereid::kernels::NEREID_ISA
