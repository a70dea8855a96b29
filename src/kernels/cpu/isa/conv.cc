// SPDX-License-Identifier: Apache-2.0
// conv: products over an image's rows in place, over padded copies of them, or over gathered windows.
//
// In place: no padding, and output rows wide enough for high tiles; every tap is a segment of the product, or every row
// of taps when pixels lie side by side. Banded: the same over a copy of some input rows with zeros around. Gathered:
// for narrow images, whose tiles would be low, and for kernels of many taps: windows are copied out, 14 rows or more at
// a time.
#include "kernels/cpu/isa/conv_gather.h"
#include "kernels/cpu/isa/conv_parts.h"
#include "kernels/cpu/isa/gemm_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// One group of channels of one convolution, and this worker's panels of it.
struct Part {
  const ConvParams& p;
  ConvShape s;
  const float* x;         // at the group's channels
  const float* weight;    // at the first panel
  const float* bias;      // at the first column
  float* y;               // at the first column
  const float* residual;  // likewise
  int64_t channels, columns, k;
  float* scratch;
};

// Sets what does not depend on where a comes from.
Region region_of(const Part& part, int64_t pixel) {
  Region g;
  g.b = part.weight;
  g.panel_stride = part.k * kPanelColumns;
  g.columns = part.columns;
  g.c = part.y + pixel * part.p.y_stride;
  g.c_stride = part.p.y_stride;
  g.bias = part.bias;
  g.blocking = part.p.blocking.gemm;
  if (part.residual) g.residual = part.residual + pixel * part.p.epilogue.residual_stride;
  return g;
}

// Output rows [oh, oh + rows) of an image whose window (0, 0) of row oh begins at `a`.
void run_image_rows(const Part& part, const float* a, int64_t pixel_stride, int64_t image_row_stride, int64_t pixel,
                    int64_t rows) {
  const ConvShape& s = part.s;
  const bool merged = s.dilation_w == 1 && pixel_stride == part.channels;
  const float* segments[kMostSegments];
  int64_t count = 0;
  for (int64_t kh = 0; kh < s.kernel_h; ++kh) {
    const float* row = a + kh * s.dilation_h * image_row_stride;
    for (int64_t kw = 0; kw < (merged ? 1 : s.kernel_w); ++kw)
      segments[count++] = row + kw * s.dilation_w * pixel_stride;
  }
  Region g = region_of(part, pixel);
  g.a = segments;
  g.segments = count;
  g.k = part.k / count;
  g.a_stride = s.stride_w * pixel_stride;
  g.rows = s.out_w;
  g.groups = rows;
  g.a_group_stride = s.stride_h * image_row_stride;
  run_region(g, part.p.epilogue);
}

void run_in_place(const Part& part, int64_t begin, int64_t end) {
  const ConvShape& s = part.s;
  const int64_t row_stride = s.in_w * part.p.x_stride;
  for (int64_t row = begin; row < end;) {
    const int64_t image = row / s.out_h, oh = row % s.out_h;
    const int64_t rows = least(end - row, s.out_h - oh);
    run_image_rows(part, part.x + (image * s.in_h + oh * s.stride_h) * row_stride, part.p.x_stride, row_stride,
                   row * s.out_w, rows);
    row += rows;
  }
}

void run_banded(const Part& part, int64_t begin, int64_t end) {
  const ConvShape& s = part.s;
  const int64_t columns = (s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
  const int64_t pixel_stride = conv_band_pixel(part.channels);
  const int64_t band = conv_band_rows(s, part.p.blocking.band_kib);
  for (int64_t row = begin; row < end;) {
    const int64_t image = row / s.out_h, oh = row % s.out_h;
    const int64_t rows = least(least(end - row, s.out_h - oh), band);
    const int64_t in_rows = (rows - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
    copy_band(part.x + image * s.in_h * s.in_w * part.p.x_stride, part.p.x_stride, s, part.channels,
              oh * s.stride_h - s.pad_top, in_rows, -s.pad_left, columns, part.scratch, pixel_stride);
    run_image_rows(part, part.scratch, pixel_stride, columns * pixel_stride, row * s.out_w, rows);
    row += rows;
  }
}

void run_gathered(const Part& part, int64_t begin, int64_t end) {
  const ConvShape& s = part.s;
  const int64_t pixels = s.out_h * s.out_w;
  const int64_t stride = conv_gather_stride(part.k), block = conv_gather_rows(part.k);
  for (int64_t pixel = begin; pixel < end; pixel += block) {
    const int64_t rows = least(block, end - pixel);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t image = (pixel + i) / pixels, at = (pixel + i) % pixels;
      copy_window(part.x + image * s.in_h * s.in_w * part.p.x_stride, part.p.x_stride, s, part.channels, at / s.out_w,
                  at % s.out_w, part.scratch + i * stride);
    }
    const float* a = part.scratch;
    Region g = region_of(part, pixel);
    g.a = &a;
    g.k = part.k;
    g.a_stride = stride;
    g.rows = rows;
    run_region(g, part.p.epilogue);
  }
}

void run_product(const ConvParams& p, Worker& worker) {
  const ConvShape& s = p.shape;
  const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups;
  const int64_t k = s.kernel_h * s.kernel_w * channels;
  const int64_t pixels = s.batch * s.out_h * s.out_w;
  const ConvWay way = conv_way(s, p.blocking.rows);
  // The unit of rows: a row of pixels of the product, or an output row of an image.
  const bool by_rows = way == ConvWay::kInPlace || way == ConvWay::kBanded;
  const int64_t unit = by_rows ? 1 : simd::kGemmRows2;
  const int64_t rows = by_rows ? s.batch * s.out_h : pixels;
  const int64_t row_units = (rows + unit - 1) / unit;
  const int64_t panels = gemm_panels(outputs);
  const int64_t column_units = (panels + 1) / 2;
  const Grid grid = share_grid(row_units, column_units, worker.count(), p.blocking.gemm.across);
  const int64_t down = worker.index() / grid.across, across = worker.index() % grid.across;
  if (down >= grid.down) return;
  const int64_t begin = row_units * down / grid.down * unit;
  const int64_t end = least(row_units * (down + 1) / grid.down * unit, rows);
  const int64_t panel = column_units * across / grid.across * 2;
  const int64_t panel_end = least(column_units * (across + 1) / grid.across * 2, panels);
  if (begin >= end || panel >= panel_end) return;
  for (int64_t group = 0; group < s.groups; ++group) {
    const int64_t column = group * outputs + panel * kPanelColumns;
    const Part part = {
        .p = p,
        .s = s,
        .x = p.x + group * channels,
        .weight = p.weight + group * gemm_packed_elements(k, outputs) + panel * kPanelColumns * k,
        .bias = p.epilogue.bias ? p.epilogue.bias + column : nullptr,
        .y = p.y + column,
        .residual = p.epilogue.residual ? p.epilogue.residual + column : nullptr,
        .channels = channels,
        .columns = least(panel_end * kPanelColumns, outputs) - panel * kPanelColumns,
        .k = k,
        .scratch = reinterpret_cast<float*>(p.scratch + worker.index() * conv_worker_bytes(s, p.blocking))};
    switch (way) {
      case ConvWay::kPlain: {
        const float* a = part.x + begin * p.x_stride;
        Region g = region_of(part, begin);
        g.a = &a;
        g.k = k;
        g.a_stride = p.x_stride;
        g.rows = end - begin;
        run_region(g, p.epilogue);
        break;
      }
      case ConvWay::kInPlace:
        run_in_place(part, begin, end);
        break;
      case ConvWay::kBanded:
        run_banded(part, begin, end);
        break;
      case ConvWay::kGathered:
        run_gathered(part, begin, end);
        break;
    }
  }
}

}  // namespace

void conv(const ConvParams& p, Worker& worker) {
  switch (p.algorithm) {
    case ConvAlgorithm::kGemm:
      return run_product(p, worker);
    case ConvAlgorithm::kDepthwise:
      return conv_depthwise(p, worker);
    case ConvAlgorithm::kWinograd2:
    case ConvAlgorithm::kWinograd4:
      return conv_winograd(p, worker);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
