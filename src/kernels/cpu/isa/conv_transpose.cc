// SPDX-License-Identifier: Apache-2.0
// Transposed convolution: a product a phase of the outputs, over a zero-padded band of x or over x itself.
#include "kernels/cpu/conv_transpose.h"

#include "kernels/cpu/conv_transpose_plan.h"
#include "kernels/cpu/isa/activation.h"
#include "kernels/cpu/isa/conv_gather.h"
#include "kernels/cpu/isa/gemm_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

static_assert(kMostTransposeTaps <= kMostSegments);

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// What one worker does of one group of channels.
struct Part {
  const ConvTransposeParams& p;
  const ConvShape& s;
  TransposeAxis h, w;
  bool merged, late;          // late: the activation is a pass over whole rows of y
  const float* x;             // at the group's channels
  const float* weight;        // of the group
  const float* bias;          // of a phase's columns; null: none
  float* y;                   // at the group's outputs
  const float* residual;      // likewise
  int64_t channels, columns;  // of the group; of a phase
  int64_t panel, panel_end;   // of a phase
  float* band;                // null: x itself
};

// Where row i + offset 0, column 0 + offset 0 of x lies, and the steps from there.
struct View {
  const float* x;
  int64_t pixel, row;
};

// Rows [begin, end) of all phases of one image.
void run_rows(const Part& part, int64_t image, int64_t begin, int64_t end, const View& view) {
  const ConvShape& s = part.s;
  const float* weight = part.weight;
  for (int64_t down = 0; down < s.stride_h; ++down)
    for (int64_t across = 0; across < transpose_phases_across(s); ++across) {
      const int64_t k = transpose_phase_taps(s, down, across) * part.channels;
      const float* matrix = weight;
      weight += gemm_packed_elements(k, part.columns);
      const int64_t rows = least(end, part.h.outputs(down)) - begin;
      if (rows <= 0 || part.w.outputs(across) <= 0) continue;
      const float* segments[kMostSegments];
      int64_t count = 0, up = 0, left = 0;
      for (int64_t kh = 0; kh < s.kernel_h; ++kh) {
        if (!part.h.reads(down, kh, up)) continue;
        for (int64_t kw = 0; kw < (part.merged ? 1 : s.kernel_w); ++kw) {
          if (!part.merged && !part.w.reads(across, kw, left)) continue;
          segments[count++] = view.x + up * view.row + left * view.pixel;
        }
      }
      const int64_t row_step = s.stride_h * s.out_w, column_step = s.stride_w;  // pixels of y
      const int64_t pixel = (image * s.out_h + begin * s.stride_h + down) * s.out_w + across;
      const int64_t column = part.panel * kPanelColumns;
      Region g;
      g.a = segments;
      g.segments = count;
      g.k = part.channels;
      g.a_stride = view.pixel;
      g.rows = part.w.outputs(across);
      g.groups = rows;
      g.a_group_stride = view.row;
      g.b = matrix + part.panel * kPanelColumns * k;
      g.panel_stride = kPanelColumns * k;
      g.columns = least(part.panel_end * kPanelColumns, part.columns) - column;
      g.c = part.y + pixel * s.out_c + column;
      g.c_stride = column_step * s.out_c;
      g.c_group_stride = row_step * s.out_c;
      g.bias = part.bias ? part.bias + column : nullptr;
      Epilogue e = part.p.epilogue;
      if (part.residual) {
        g.residual = part.residual + pixel * e.residual_stride + column;
        g.residual_group_stride = row_step * e.residual_stride;
        e.residual_stride *= column_step;
      }
      if (part.late) e.act = Act::kNone, e.scale = 1, e.shift = 0;
      run_region(g, e);
      if (!part.late) continue;
      for (int64_t i = 0; i < rows; ++i) {
        float* y = part.y + (pixel + i * row_step) * s.out_c;
        const int64_t count_of_row = s.out_w * s.out_c;
        for (int64_t c = 0; c < count_of_row; c += 16) {
          const simd::Lanes lanes = simd::first_lanes(static_cast<int>(least(count_of_row - c, 16)));
          simd::store(y + c, activate(part.p.epilogue, simd::load(y + c, lanes)), lanes);
        }
      }
    }
}

// Rows [begin, end) of phase 0's of one image, in blocks.
void run_image(const Part& part, int64_t image, int64_t begin, int64_t end) {
  const ConvShape& s = part.s;
  const float* x = part.x + image * s.in_h * s.in_w * part.p.x_stride;
  if (part.band == nullptr) {
    const int64_t row = s.in_w * part.p.x_stride;
    return run_rows(part, image, begin, end, {x + begin * row, part.p.x_stride, row});
  }
  const int64_t block = transpose_block_rows(s), pixel = conv_band_pixel(part.channels);
  const int64_t top = part.h.edge(false), left = part.w.edge(false), columns = transpose_band_columns(s);
  for (int64_t i = begin; i < end; i += block) {
    const int64_t last = least(i + block, end);
    copy_band(x, part.p.x_stride, s, part.channels, i + top, last - i + part.h.edge(true) - top, left, columns,
              part.band, pixel);
    run_rows(part, image, i, last, {part.band - (top * columns + left) * pixel, pixel, columns * pixel});
  }
}

}  // namespace

void conv_transpose(const ConvTransposeParams& p, Worker& worker) {
  const ConvShape& s = p.shape;
  const TransposeAxis h = transpose_rows(s), w = transpose_columns(s);
  const int64_t rows = h.outputs(0), columns = transpose_columns_of_phase(s), panels = gemm_panels(columns);
  const Grid grid = share_grid(s.batch * rows, (panels + 1) / 2, worker.count());
  const int64_t down = worker.index() / grid.across, across = worker.index() % grid.across;
  if (down >= grid.down) return;
  const int64_t begin = s.batch * rows * down / grid.down, end = s.batch * rows * (down + 1) / grid.down;
  const int64_t pairs = (panels + 1) / 2, panel = pairs * across / grid.across * 2;
  const int64_t panel_end = least(pairs * (across + 1) / grid.across * 2, panels);
  if (begin >= end || panel >= panel_end) return;
  std::byte* scratch = p.scratch + worker.index() * transpose_worker_bytes(s);
  const bool merged = transpose_is_merged(s);
  auto* row_bias = reinterpret_cast<float*>(scratch);
  if (merged && p.epilogue.bias)
    for (int64_t i = 0; i < columns; ++i) row_bias[i] = p.epilogue.bias[i % s.out_c];
  const int64_t outputs = s.out_c / s.groups;
  const int64_t group_elements = conv_transpose_weight_elements(s) / s.groups;
  for (int64_t group = 0; group < s.groups; ++group) {
    const int64_t first = group * outputs;
    const float* bias = p.epilogue.bias ? merged ? row_bias : p.epilogue.bias + first : nullptr;
    const Part part = {
        .p = p,
        .s = s,
        .h = h,
        .w = w,
        .merged = merged,
        .late = merged && columns < kPanelColumns && !is_clamp(p.epilogue) && p.epilogue.residual == nullptr,
        .x = p.x + group * (s.in_c / s.groups),
        .weight = p.weight + group * group_elements,
        .bias = bias,
        .y = p.y + first,
        .residual = p.epilogue.residual ? p.epilogue.residual + first : nullptr,
        .channels = s.in_c / s.groups,
        .columns = columns,
        .panel = panel,
        .panel_end = panel_end,
        .band = transpose_has_band(s) ? reinterpret_cast<float*>(scratch + transpose_bias_bytes(s)) : nullptr};
    for (int64_t row = begin; row < end;) {
      const int64_t i = row % rows, last = least(rows, i + end - row);
      run_image(part, row / rows, i, last);
      row += last - i;
    }
  }
}

}  // namespace nereid::kernels::NEREID_ISA
