// SPDX-License-Identifier: Apache-2.0
// How a product or a convolution is cut into pieces that stay in the caches. What is 0 is chosen by rule; nothing here
// changes a bit of the result, because an element's sum has one order whatever the cuts. What a shape cannot take falls
// back to the rule.
#pragma once

#include <cstdint>

namespace nereid::kernels {

struct GemmBlocking {
  int32_t block_kib = 0;  // of a and c, which stay in L2 while all panels of b pass over them
  int8_t panels = 0;      // of 16 columns to a tile: 1, 2 or 4
  int8_t across = 0;      // workers side by side over the columns; the others share the rows
  bool operator==(const GemmBlocking&) const = default;
};

// Where the rows of a convolution's products come from.
enum class ConvRows : uint8_t {
  kByRule,
  kInPlace,  // the image itself: no padding
  kBanded,   // zero-padded copies of some of its rows
  kGathered  // windows, copied out one by one
};

inline constexpr int32_t kTeamTiles = INT32_MAX;

struct ConvBlocking {
  GemmBlocking gemm;
  ConvRows rows = ConvRows::kByRule;
  int32_t band_kib = 0;  // of a zero-padded copy
  int32_t tiles = 0;     // Winograd: tiles that a worker does at a time; kTeamTiles: the team does all of them together
  bool operator==(const ConvBlocking&) const = default;
};

}  // namespace nereid::kernels
