// SPDX-License-Identifier: Apache-2.0
// gemm: shares c among the team, and packs run-time matrices.
#include "kernels/cpu/isa/gemm_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
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
  g.packed = p.b_stride == 0;
  g.b_stride = g.packed ? kPanelColumns : p.b_stride;
  g.panel_stride = g.packed ? kPanelColumns * p.k : kPanelColumns;
  g.b = p.b + outer * p.outer.b + inner * p.inner.b + panel_begin * g.panel_stride;
  const int64_t column_end = panel_end * kPanelColumns < p.n ? panel_end * kPanelColumns : p.n;
  g.columns = column_end - column;
  g.c = p.c + outer * p.outer.c + inner * p.inner.c + row_begin * p.c_stride + column;
  g.c_stride = p.c_stride;
  g.bias = p.epilogue.bias ? p.epilogue.bias + column : nullptr;
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
  const Grid grid = share_grid(row_units, column_units, worker.count());
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
