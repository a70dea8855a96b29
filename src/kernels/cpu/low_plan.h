// SPDX-License-Identifier: Apache-2.0
// Sizes of packed low-precision weights, and how rows of activations are copied where they must be. Private to
// kernels/cpu.
#pragma once

#include <cstring>

#include "kernels/cpu/conv_plan.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels {

// Steps of k, and bytes of a panel.
constexpr int64_t low_steps(LowType a, int64_t k) {
  return (k + low_depth(a) - 1) / low_depth(a);
}
constexpr int64_t low_panel_bytes(LowType a, int64_t k) {
  return low_steps(a, k) * 64;
}

// Copied rows: how many at a time, and bytes between them. A row ends in zeros up to 64 bytes, as AMX reads it.
struct LowRows {
  int64_t count, stride;
  int64_t element;
  int64_t bytes() const { return count * stride; }
  void clear_tail(std::byte* row, int64_t k) const {
    std::memset(row + k * element, 0, static_cast<size_t>(stride - k * element));
  }
};
constexpr LowRows low_rows(LowType a, int64_t k) {
  const int64_t element = low_is_int8(a) ? 1 : 2;
  // Not a multiple of 2 KiB, lest all rows share a few sets of the L1 cache.
  const int64_t whole = (k * element + 63) / 64 * 64, stride = whole % 2048 == 0 ? whole + 64 : whole;
  // Half of L2: all weights pass over them, and those of wide windows are megabytes.
  const int64_t tiles = (int64_t{1} << 20) / stride / 32;
  return {(tiles > 1 ? tiles : 1) * 32, stride, element};
}

// Channels of a group as they are multiplied: a few too few for whole steps are filled up while bands are copied.
constexpr int64_t low_channels(const ConvShape& s, LowType x) {
  const int64_t channels = s.in_c / s.groups, depth = low_depth(x), whole = (channels + depth - 1) / depth * depth;
  const bool little = whole * 3 <= channels * 4;  // an image of three colours, not one of one
  return little && s.kernel_h * s.kernel_w <= 64 ? whole : channels;
}

// Depthwise convolutions of codes that low_depthwise_quads.cc does. Weights of 64 channels: 64 sums of a channel's
// weights, then for each row of taps, and for a result and its right neighbour, 64 quads in the order of interleaved
// channels (simd/README.md). A block of at most 32 channels has them twice, for two results in one.
constexpr bool low_is_quads(const ConvShape& s, LowType x) {
  return low_is_int8(x) && low_conv_is_depthwise(s) && s.kernel_h == 3 && s.kernel_w == 3 && s.dilation_h == 1 &&
         s.dilation_w == 1 && s.stride_w <= 2;
}
inline constexpr int64_t kQuadBlockBytes = 256 + 3 * 2 * 256;

enum class LowWay : uint8_t { kPlain, kInPlace, kBanded, kGathered };  // as ConvWay

constexpr LowWay low_conv_way(const ConvShape& s, LowType x) {
  const int64_t channels = s.in_c / s.groups;
  if (low_channels(s, x) != channels) return LowWay::kBanded;
  // Segments must be whole steps; channels too few make steps of mostly padding.
  if (channels % low_depth(x) != 0) return LowWay::kGathered;
  const bool as_is = x == LowType::kBF16 || x == LowType::kU8;
  // Rows of small images fill a tile badly, and every tile reads all weights: pixels of several rows share one.
  if (s.out_w < 12 && s.out_h > 1 && conv_way(s) != ConvWay::kPlain) return LowWay::kGathered;
  switch (conv_way(s)) {
    case ConvWay::kPlain:
      return as_is ? LowWay::kPlain : LowWay::kGathered;
    case ConvWay::kInPlace:
      return as_is ? LowWay::kInPlace : LowWay::kGathered;
    case ConvWay::kBanded:
      return LowWay::kBanded;
    case ConvWay::kGathered:
      return LowWay::kGathered;
  }
  return LowWay::kGathered;
}

struct LowBand {
  int64_t rows, columns, bytes;  // output rows at a time; input pixels of a row; of the copy
};
constexpr LowBand low_band(const ConvShape& s, LowType x) {
  const int64_t columns = (s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
  const int64_t row = columns * low_channels(s, x) * (low_is_int8(x) ? 1 : 2);
  const int64_t fit = (int64_t{384} << 10) / row - ((s.kernel_h - 1) * s.dilation_h + 1);
  const int64_t most = fit > 0 ? fit / s.stride_h + 1 : 1, rows = most < s.out_h ? most : s.out_h;
  const int64_t in_rows = (rows - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  return {rows, columns, (in_rows * row + 63) / 64 * 64 + 64};
}

// Of one worker, a multiple of 64.
int64_t low_conv_worker_bytes(const ConvShape& s, LowType x);

}  // namespace nereid::kernels
