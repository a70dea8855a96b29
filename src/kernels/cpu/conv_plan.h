// SPDX-License-Identifier: Apache-2.0
// How a convolution's products find their left rows, and the scratch that takes. Private to kernels/cpu.
#pragma once

#include "kernels/cpu/conv.h"

namespace nereid::kernels {

enum class ConvWay : uint8_t {
  kPlain,    // 1x1, stride 1: the image is the matrix
  kInPlace,  // windows lie in the image as they are
  kBanded,   // over zero-padded copies of some rows
  kGathered  // windows are copied out one by one
};

constexpr bool conv_has_padding(const ConvShape& s) {
  return s.pad_top != 0 || s.pad_left != 0 ||
         (s.out_h - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1 > s.in_h ||
         (s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1 > s.in_w;
}
constexpr ConvWay conv_way(const ConvShape& s, ConvRows rows = ConvRows::kByRule) {
  const bool few_taps = s.kernel_h * s.kernel_w <= 64;
  if (rows == ConvRows::kGathered) return ConvWay::kGathered;
  if (rows == ConvRows::kBanded && few_taps) return ConvWay::kBanded;
  if (rows == ConvRows::kInPlace && few_taps && !conv_has_padding(s)) return ConvWay::kInPlace;
  const bool is_point = s.kernel_h == 1 && s.kernel_w == 1;
  if (is_point && s.stride_h == 1 && s.stride_w == 1 && !conv_has_padding(s)) return ConvWay::kPlain;
  // Tiles do not cross image rows: below 10 pixels they would be too low to feed the multipliers.
  if (s.out_w < 10 || !few_taps) return ConvWay::kGathered;
  return conv_has_padding(s) ? ConvWay::kBanded : ConvWay::kInPlace;
}

// Elements between pixels of a band: rows of a tile 4 KiB apart would share one set of the L1 cache.
constexpr int64_t conv_band_pixel(int64_t channels) {
  return channels % 512 == 0 ? channels + 16 : channels;
}
constexpr int64_t conv_gather_stride(int64_t k) {
  return (k + 15) / 16 * 16 + (k % 512 == 0 ? 16 : 0);
}

inline constexpr int64_t kConvBandBytes = 256 << 10;

constexpr int64_t conv_band_row_bytes(const ConvShape& s) {
  return ((s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1) * conv_band_pixel(s.in_c / s.groups) * 4;
}
// Output rows of one band.
constexpr int64_t conv_band_rows(const ConvShape& s, int32_t band_kib = 0) {
  const int64_t bytes = band_kib > 0 ? int64_t{band_kib} << 10 : kConvBandBytes;
  const int64_t in_rows = bytes / conv_band_row_bytes(s) - ((s.kernel_h - 1) * s.dilation_h + 1);
  const int64_t rows = in_rows > 0 ? in_rows / s.stride_h + 1 : 1;
  return rows < s.out_h ? rows : s.out_h;
}
constexpr int64_t conv_gather_rows(int64_t k) {
  const int64_t tiles = (int64_t{384} << 10) / (conv_gather_stride(k) * 4) / 14;
  return (tiles > 1 ? tiles : 1) * 14;
}

// Winograd: whether each worker does tiles of its own, in blocks of `block` tiles, or all work on one block together.
struct WinogradPlan {
  bool alone = true;
  int64_t tiles = 0, block = 0;
  int64_t bytes = 0;  // of one worker, or of all of them; a multiple of 64
};
constexpr WinogradPlan winograd_plan(const ConvShape& s, int64_t m, int64_t workers, int32_t wanted = 0) {
  WinogradPlan plan;
  plan.tiles = s.batch * ((s.out_h + m - 1) / m) * ((s.out_w + m - 1) / m);
  const int64_t in_width = (s.in_c + 15) / 16 * 16, out_width = (s.out_c + 15) / 16 * 16, matrices = (m + 2) * (m + 2);
  plan.alone = wanted == 0 ? plan.tiles >= 28 * workers : wanted != kTeamTiles;
  plan.block = plan.tiles;
  if (plan.alone) {
    const int64_t fit = (int64_t{1} << 20) / (matrices * (in_width + out_width) * 4) / 14 * 14;
    const int64_t share = (plan.tiles + workers - 1) / workers;
    plan.block = wanted != 0 ? wanted : fit > 28 ? fit : 28;
    if (plan.block > share) plan.block = share;
  }
  const int64_t floats = in_width + matrices * (plan.block * (in_width + out_width) + 32);
  plan.bytes = (floats * 4 + 63) / 64 * 64;
  return plan;
}

// Of one worker, a multiple of 64.
int64_t conv_worker_bytes(const ConvShape& s, const ConvBlocking& blocking = {});

}  // namespace nereid::kernels
