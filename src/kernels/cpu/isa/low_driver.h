// SPDX-License-Identifier: Apache-2.0
// Low-precision products and convolutions over a kernel of tiles (vectors, or AMX): who does what, and where rows of a
// come from: memory as it is, or copies that are rounded, shifted to u8, padded or gathered.
#pragma once

#include "kernels/cpu/isa/conv_parts.h"
#include "kernels/cpu/isa/gemm_driver.h"
#include "kernels/cpu/isa/low_codes.h"
#include "kernels/cpu/isa/low_copy.h"
#include "kernels/cpu/isa/low_output.h"
#include "kernels/cpu/isa/low_tile.h"
#include "kernels/cpu/low_plan.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// Rows and columns of y; rows of a in groups as in gemm_driver.h. Pointers to a in bytes.
struct LowRegion {
  const std::byte* const* a = nullptr;
  int64_t a_stride = 0, segments = 1, steps = 0;
  int64_t rows = 0, groups = 1, a_group_stride = 0;
  const std::byte* b = nullptr;  // panel 0
  int64_t panel_stride = 0;
  int64_t row = 0, column = 0, columns = 0;  // of y: where the region begins, and how wide it is
  std::byte* y = nullptr;                    // row 0, column 0 of all
  int64_t y_stride = 0;                      // elements
  int64_t y_rows = 0;                        // of the whole layer
};

// The first tiles fetch the panels that come next, one each: at batch 1 weights come from L3 or memory, and a tile
// reads its own for the first time slower than it multiplies.
inline int64_t ahead_of(const LowRegion& g, int64_t panel, int panels, int64_t tile) {
  const int64_t next = panel + panels + tile;
  return tile < panels && 16 * next < g.columns ? (panels + tile) * g.panel_stride : 0;
}

// 17 to 32 bytes.
inline void copy_cut(std::byte* to, const std::byte* from, int64_t n) {
  std::memcpy(to, from, 16);
  std::memcpy(to + n - 16, from + n - 16, 16);
}

// Pairs of panels whose sums become codes; t has all that does not change from tile to tile. Of a pair that is cut,
// rows pass through a buffer of whole ones.
template <typename Kernel, bool kResidual>
void run_code_groups(const Kernel& kernel, const LowRegion& g, const LowEpilogue& e, int64_t group, int64_t groups,
                     int64_t panel, LowTile t) {
  const std::byte* a[kMostSegments];
  t.a = a;
  const int most = Kernel::rows_for(2);
  const int64_t column = g.column + 16 * panel, columns = least(32, g.columns - 16 * panel);
  const bool cut = columns < 32, is_brief = Kernel::kBegins && !kResidual && !cut && is_short(t);
  const int64_t tiles = is_brief ? 1 : (g.rows + most - 1) / most;
  alignas(64) std::byte whole_y[Kernel::kMostRows * 32], whole_r[Kernel::kMostRows * 32] = {};
  LowCodes codes;
  prepare_codes(e, column, static_cast<int>(columns), codes);
  codes.begun = Kernel::kBegins;
  if (codes.begun) t.begin = codes.begin;
  codes.y_stride = cut ? 32 : g.y_stride;
  codes.residual_stride = cut ? 32 : e.residual_stride;
  int64_t tile = 0;
  for (int64_t n = group; n < group + groups; ++n) {
    int64_t row = 0;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t height = (g.rows - row + (tiles - i) - 1) / (tiles - i), to = g.row + n * g.rows + row;
      for (int64_t s = 0; s < g.segments; ++s) a[s] = g.a[s] + n * g.a_group_stride + row * g.a_stride;
      std::byte* y = g.y + to * g.y_stride + column;
      const std::byte* r =
          kResidual ? static_cast<const std::byte*>(e.residual) + to * e.residual_stride + column : nullptr;
      codes.y = cut ? whole_y : y;
      codes.residual = cut && kResidual ? whole_r : r;
      if (cut && kResidual)
        for (int64_t j = 0; j < height; ++j) copy_cut(whole_r + 32 * j, r + j * e.residual_stride, columns);
      if (is_brief) {
        if constexpr (Kernel::kBegins) Kernel::put_short(codes, t, height);
      } else {
        t.ahead = ahead_of(g, panel, 2, tile++);
        kernel.run(t, static_cast<int>(height), 2);
        Kernel::put_codes(codes, t.sums, height);
      }
      if (e.map) e.map_codes(e.map, codes.y, codes.y_stride, height, columns);
      if (cut)
        for (int64_t j = 0; j < height; ++j) copy_cut(y + j * g.y_stride, whole_y + 32 * j, columns);
      row += height;
    }
  }
}

template <typename Kernel, bool kInt8>
void run_low_groups(const Kernel& kernel, const LowRegion& g, const LowEpilogue& e, int64_t group, int64_t groups,
                    int64_t panel, int panels) {
  if constexpr (Kernel::kOverlaps)
    if (kernel.run_rows(g, e, group, groups, panel, panels)) return;
  alignas(64) std::byte sums[Kernel::kMostRows * 128];
  const std::byte* a[kMostSegments];
  const int most = Kernel::rows_for(panels);
  int64_t tile = 0;
  const int64_t tiles = (g.rows + most - 1) / most;
  LowTile t;
  t.a = a;
  t.a_stride = g.a_stride;
  t.segments = g.segments;
  t.steps = g.steps;
  t.b = g.b + panel * g.panel_stride;
  t.panel_stride = g.panel_stride;
  t.sums = sums;
  if constexpr (kInt8)
    if (panels == 2 && makes_codes(e))
      return e.residual ? run_code_groups<Kernel, true>(kernel, g, e, group, groups, panel, t)
                        : run_code_groups<Kernel, false>(kernel, g, e, group, groups, panel, t);
  for (int64_t n = group; n < group + groups; ++n) {
    int64_t row = 0;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t height = (g.rows - row + (tiles - i) - 1) / (tiles - i);
      for (int64_t s = 0; s < g.segments; ++s) a[s] = g.a[s] + n * g.a_group_stride + row * g.a_stride;
      t.ahead = ahead_of(g, panel, panels, tile++);
      kernel.run(t, static_cast<int>(height), panels);
      finish_low_tile<kInt8>(sums, height, panels, e, g.row + n * g.rows + row, g.column + 16 * panel,
                             g.columns - 16 * panel, g.y, g.y_stride);
      row += height;
    }
  }
}

template <typename Kernel, bool kInt8>
void run_low_region(const Kernel& kernel, const LowRegion& g, const LowEpilogue& e) {
  const int64_t panels = gemm_panels(g.columns);
  const int64_t bytes = g.segments * g.steps * 4 * g.rows;
  // Groups that stay in L2 while all panels pass over them; single groups are cut by the caller.
  const int64_t fit = (int64_t{512} << 10) / (bytes + 1), block = fit > 1 ? fit : 1;
  for (int64_t group = 0; group < g.groups; group += block) {
    const int64_t groups = least(block, g.groups - group);
    int64_t panel = 0;
    if (g.rows <= Kernel::kFewRows)
      for (; panel + 4 <= panels; panel += 4) run_low_groups<Kernel, kInt8>(kernel, g, e, group, groups, panel, 4);
    for (; panel + 2 <= panels; panel += 2) run_low_groups<Kernel, kInt8>(kernel, g, e, group, groups, panel, 2);
    if (panel < panels) run_low_groups<Kernel, kInt8>(kernel, g, e, group, groups, panel, 1);
  }
}

// A worker's rectangle.
struct Rectangle {
  int64_t row, row_end, panel, panel_end;
  bool empty() const { return row >= row_end || panel >= panel_end; }
};
inline Rectangle rectangle_of(int64_t rows, int64_t unit, int64_t panels, const Worker& worker) {
  const int64_t row_units = (rows + unit - 1) / unit, column_units = (panels + 1) / 2;
  const Grid grid = share_grid(row_units, column_units, worker.count());
  const int64_t down = worker.index() / grid.across, across = worker.index() % grid.across;
  if (down >= grid.down) return {0, 0, 0, 0};
  return {row_units * down / grid.down * unit, least(row_units * (down + 1) / grid.down * unit, rows),
          column_units * across / grid.across * 2, least(column_units * (across + 1) / grid.across * 2, panels)};
}

template <typename Kernel, bool kInt8>
void drive_low_gemm(const Kernel& kernel, const LowGemmParams& p, Worker& worker) {
  if (p.m == 0 || p.n == 0) return;
  const Rectangle part = rectangle_of(p.m, 16, gemm_panels(p.n), worker);
  if (part.empty()) return;
  const LowRows rows = low_rows(p.a_type, p.k);
  const bool in_place = p.k % low_depth(p.a_type) == 0 && (p.a_type == LowType::kBF16 || p.a_type == LowType::kU8);
  const int64_t element = low_bytes(p.a_type);
  std::byte* copy = p.scratch + worker.index() * rows.bytes();
  for (int64_t row = part.row; row < part.row_end; row += rows.count) {
    const int64_t count = least(rows.count, part.row_end - row);
    const auto* src = static_cast<const std::byte*>(p.a) + row * p.a_stride * element;
    LowRegion g;
    const std::byte* a = in_place ? src : copy;
    g.a = &a;
    g.a_stride = in_place ? p.a_stride * element : rows.stride;
    if (!in_place)
      for (int64_t i = 0; i < count; ++i) {
        copy_low(p.a_type, src + i * p.a_stride * element, p.k, copy + i * rows.stride);
        rows.clear_tail(copy + i * rows.stride, p.k);
      }
    g.steps = low_steps(p.a_type, p.k);
    g.rows = count;
    g.panel_stride = low_panel_bytes(p.a_type, p.k);
    g.b = p.b + part.panel * g.panel_stride;
    g.row = row;
    g.column = part.panel * kPanelColumns;
    g.columns = least(part.panel_end * kPanelColumns, p.n) - g.column;
    g.y = static_cast<std::byte*>(p.c);
    g.y_stride = p.c_stride;
    g.y_rows = p.m;
    run_low_region<Kernel, kInt8>(kernel, g, p.epilogue);
  }
}

// One group of channels: its part of the input, and where its columns begin.
struct LowPart {
  const LowConvParams& p;
  const ConvShape& s;
  const std::byte* x;
  int64_t channels, padded, k;  // of the group; as they are multiplied (low_channels); of a window
  LowRegion region;             // all but a
  std::byte* scratch;
};

// The window of an output pixel in the kernel's type; beyond the image the code of zero.
inline void copy_low_window(const LowPart& part, int64_t image, int64_t oh, int64_t ow, std::byte* dst) {
  const LowConvParams& p = part.p;
  const ConvShape& s = part.s;
  const int64_t from = low_bytes(p.x_type), to = low_is_int8(p.x_type) ? 1 : 2;
  const int fill = low_is_int8(p.x_type) ? (p.x_zero + (p.x_type == LowType::kS8 ? 128 : 0)) & 0xff : 0;
  const bool merged = s.dilation_w == 1 && p.x_stride == part.channels;
  const int64_t left = ow * s.stride_w - s.pad_left;
  const Taps w = taps_inside(left, s.dilation_w, s.kernel_w, s.in_w);
  for (int64_t kh = 0; kh < s.kernel_h; ++kh, dst += s.kernel_w * part.channels * to) {
    const int64_t h = oh * s.stride_h - s.pad_top + kh * s.dilation_h;
    if (h < 0 || h >= s.in_h || w.begin == w.end) {
      std::memset(dst, fill, static_cast<size_t>(s.kernel_w * part.channels * to));
      continue;
    }
    const std::byte* src = part.x + ((image * s.in_h + h) * s.in_w + left) * p.x_stride * from;
    std::memset(dst, fill, static_cast<size_t>(w.begin * part.channels * to));
    std::memset(dst + w.end * part.channels * to, fill, static_cast<size_t>((s.kernel_w - w.end) * part.channels * to));
    if (merged) {
      copy_low(p.x_type, src + w.begin * part.channels * from, (w.end - w.begin) * part.channels,
               dst + w.begin * part.channels * to);
      continue;
    }
    for (int64_t kw = w.begin; kw < w.end; ++kw)
      copy_low(p.x_type, src + kw * s.dilation_w * p.x_stride * from, part.channels, dst + kw * part.channels * to);
  }
}

template <typename Kernel, bool kInt8>
void run_low_gathered(const Kernel& kernel, const LowPart& part, int64_t begin, int64_t end) {
  const ConvShape& s = part.s;
  const LowRows rows = low_rows(part.p.x_type, part.k);
  const int64_t pixels = s.out_h * s.out_w;
  for (int64_t pixel = begin; pixel < end; pixel += rows.count) {
    LowRegion g = part.region;
    g.rows = least(rows.count, end - pixel);
    for (int64_t i = 0; i < g.rows; ++i) {
      const int64_t at = (pixel + i) % pixels;
      copy_low_window(part, (pixel + i) / pixels, at / s.out_w, at % s.out_w, part.scratch + i * rows.stride);
      rows.clear_tail(part.scratch + i * rows.stride, part.k);
    }
    const std::byte* a = part.scratch;
    g.a = &a;
    g.a_stride = rows.stride;
    g.steps = low_steps(part.p.x_type, part.k);
    g.row = pixel;
    run_low_region<Kernel, kInt8>(kernel, g, part.p.epilogue);
  }
}

// Output rows of images that need no padding, in place.
template <typename Kernel, bool kInt8>
void run_low_in_place(const Kernel& kernel, const LowPart& part, int64_t begin, int64_t end) {
  const ConvShape& s = part.s;
  const int64_t pixel_bytes = part.p.x_stride * low_bytes(part.p.x_type), row_bytes = s.in_w * pixel_bytes;
  const bool merged = s.dilation_w == 1 && part.p.x_stride == part.channels;
  for (int64_t row = begin; row < end;) {
    const int64_t image = row / s.out_h, oh = row % s.out_h;
    LowRegion g = part.region;
    const std::byte* a[kMostSegments];
    g.segments = 0;
    for (int64_t kh = 0; kh < s.kernel_h; ++kh)
      for (int64_t kw = 0; kw < (merged ? 1 : s.kernel_w); ++kw)
        a[g.segments++] = part.x + (image * s.in_h + oh * s.stride_h + kh * s.dilation_h) * row_bytes +
                          kw * s.dilation_w * pixel_bytes;
    g.a = a;
    g.a_stride = s.stride_w * pixel_bytes;
    g.steps = low_steps(part.p.x_type, part.k / g.segments);
    g.rows = s.out_w;
    g.groups = least(end - row, s.out_h - oh);
    g.a_group_stride = s.stride_h * row_bytes;
    g.row = row * s.out_w;
    run_low_region<Kernel, kInt8>(kernel, g, part.p.epilogue);
    row += g.groups;
  }
}

// Copies bands of rows with padding around them, and goes on as in place.
template <typename Kernel, bool kInt8>
void run_low_banded(const Kernel& kernel, const LowPart& part, int64_t begin, int64_t end) {
  const ConvShape& s = part.s;
  const LowConvParams& p = part.p;
  const int64_t from = low_bytes(p.x_type), to = low_is_int8(p.x_type) ? 1 : 2;
  const LowBand band = low_band(s, p.x_type);
  const int64_t pixel = part.padded * to, row_bytes = band.columns * pixel;
  const int fill = low_is_int8(p.x_type) ? (p.x_zero + (p.x_type == LowType::kS8 ? 128 : 0)) & 0xff : 0;
  for (int64_t row = begin; row < end;) {
    const int64_t image = row / s.out_h, oh = row % s.out_h;
    const int64_t rows = least(least(end - row, s.out_h - oh), band.rows);
    const int64_t in_rows = (rows - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
    const Taps inside = taps_inside(-s.pad_left, 1, band.columns, s.in_w);
    for (int64_t i = 0; i < in_rows; ++i) {
      const int64_t h = oh * s.stride_h - s.pad_top + i;
      std::byte* dst = part.scratch + i * row_bytes;
      if (h < 0 || h >= s.in_h || inside.begin == inside.end) {
        std::memset(dst, fill, static_cast<size_t>(row_bytes));
        continue;
      }
      std::memset(dst, fill, static_cast<size_t>(inside.begin * pixel));
      std::memset(dst + inside.end * pixel, fill, static_cast<size_t>((band.columns - inside.end) * pixel));
      if (p.x_planes) {
        const int64_t plane = s.in_h * s.in_w;
        const auto* planes = reinterpret_cast<const float*>(part.x) + 3 * image * plane;
        Kernel::widen_three(planes + h * s.in_w + inside.begin - s.pad_left, plane, inside.end - inside.begin,
                            dst + inside.begin * pixel);
        continue;
      }
      const std::byte* src = part.x + ((image * s.in_h + h) * s.in_w + inside.begin - s.pad_left) * p.x_stride * from;
      if (part.padded == 4 && part.channels == 3 && p.x_stride == 3 && !kInt8) {
        Kernel::widen(p.x_type, src, inside.end - inside.begin, dst + inside.begin * pixel);
        continue;
      }
      if (part.padded == 4 && part.channels == 3 && p.x_stride == 3) {
        copy_colours(src, inside.end - inside.begin, p.x_type == LowType::kS8 ? 0x80 : 0, dst + inside.begin * pixel);
        continue;
      }
      if (p.x_stride == part.channels && part.padded == part.channels) {
        copy_low(p.x_type, src, (inside.end - inside.begin) * part.channels, dst + inside.begin * pixel);
        continue;
      }
      for (int64_t j = inside.begin; j < inside.end; ++j, src += p.x_stride * from) {
        copy_low(p.x_type, src, part.channels, dst + j * pixel);
        if (part.padded > part.channels)
          std::memset(dst + j * pixel + part.channels * to, 0, static_cast<size_t>((part.padded - part.channels) * to));
      }
    }
    const bool merged = s.dilation_w == 1;
    LowRegion g = part.region;
    const std::byte* a[kMostSegments];
    g.segments = 0;
    for (int64_t kh = 0; kh < s.kernel_h; ++kh)
      for (int64_t kw = 0; kw < (merged ? 1 : s.kernel_w); ++kw)
        a[g.segments++] = part.scratch + kh * s.dilation_h * row_bytes + kw * s.dilation_w * pixel;
    g.a = a;
    g.a_stride = s.stride_w * pixel;
    g.steps = low_steps(p.x_type, part.k / g.segments);
    g.rows = s.out_w;
    g.groups = rows;
    g.a_group_stride = s.stride_h * row_bytes;
    g.row = row * s.out_w;
    run_low_region<Kernel, kInt8>(kernel, g, p.epilogue);
    row += rows;
  }
}

// Rows of a 1x1 convolution at a time: what they read and write stays in L2 while all panels pass over them. A multiple
// of both kernels' heights.
inline int64_t plain_rows(const LowConvParams& p, int64_t k) {
  constexpr int64_t kHeights = 224;  // 16 of 14, 7 of 32
  const LowEpilogue& e = p.epilogue;
  const int64_t y = low_bytes(e.y_type) + (e.residual ? low_bytes(e.residual_type) : 0);
  const int64_t fit = (int64_t{512} << 10) / (k * low_bytes(p.x_type) + p.shape.out_c / p.shape.groups * y);
  return fit < kHeights ? kHeights : fit / kHeights * kHeights;
}

template <typename Kernel, bool kInt8>
void drive_low_conv(const Kernel& kernel, const LowConvParams& p, Worker& worker) {
  const ConvShape& s = p.shape;
  const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups;
  const int64_t padded = low_channels(s, p.x_type), k = s.kernel_h * s.kernel_w * padded;
  const LowWay way = low_conv_way(s, p.x_type);
  const bool by_pixels = way == LowWay::kGathered || way == LowWay::kPlain;
  const Rectangle whole = rectangle_of(by_pixels ? s.batch * s.out_h * s.out_w : s.batch * s.out_h, by_pixels ? 16 : 1,
                                       gemm_panels(outputs), worker);
  if (whole.empty()) return;
  for (int64_t group = 0; group < s.groups; ++group) {
    LowPart part = {.p = p,
                    .s = s,
                    .x = static_cast<const std::byte*>(p.x) + group * channels * low_bytes(p.x_type),
                    .channels = channels,
                    .padded = padded,
                    .k = k,
                    .region = {},
                    .scratch = p.scratch + worker.index() * low_conv_worker_bytes(s, p.x_type)};
    LowRegion& g = part.region;
    g.panel_stride = low_panel_bytes(p.x_type, k);
    g.b = p.weight + group * low_packed_bytes(p.x_type, k, outputs) + whole.panel * g.panel_stride;
    g.column = group * outputs + whole.panel * kPanelColumns;
    g.columns = least(whole.panel_end * kPanelColumns, outputs) - whole.panel * kPanelColumns;
    g.y = static_cast<std::byte*>(p.y);
    g.y_stride = p.y_stride;
    g.y_rows = s.batch * s.out_h * s.out_w;
    switch (way) {
      case LowWay::kPlain: {
        const int64_t block = plain_rows(p, k);
        for (int64_t row = whole.row; row < whole.row_end; row += block) {
          const std::byte* a = part.x + row * p.x_stride * low_bytes(p.x_type);
          LowRegion rows = g;
          rows.a = &a;
          rows.a_stride = p.x_stride * low_bytes(p.x_type);
          rows.steps = low_steps(p.x_type, k);
          rows.rows = least(block, whole.row_end - row);
          rows.row = row;
          run_low_region<Kernel, kInt8>(kernel, rows, p.epilogue);
        }
        break;
      }
      case LowWay::kInPlace:
        run_low_in_place<Kernel, kInt8>(kernel, part, whole.row, whole.row_end);
        break;
      case LowWay::kBanded:
        run_low_banded<Kernel, kInt8>(kernel, part, whole.row, whole.row_end);
        break;
      case LowWay::kGathered:
        run_low_gathered<Kernel, kInt8>(kernel, part, whole.row, whole.row_end);
        break;
    }
  }
}

}  // namespace
}  // namespace nereid::kernels::NEREID_ISA
