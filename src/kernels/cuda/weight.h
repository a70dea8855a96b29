// SPDX-License-Identifier: Apache-2.0
// How a weight matrix [rows, cols] lies in device memory.
//
// Floats (f16, bf16, f8e4m3) stay as every file has them: row after row, `stride` elements apart. They need no packing,
// one copy serves the streaming kernels, TMA and cuBLASLt. f8 has one factor for all, or one a row.
//
// Codes of 4 or 8 bits, w = scale * (code - zero) + offset for each `group` of columns, lie in tiles of 16 rows; a tile
// is ceil(cols / 128) units of 128 columns, one behind the other, and a unit is
//     f16 scale[16][128 / group], f16 offset[16][128 / group] (only with has_offset), codes
// Codes are in the order in which the lanes of a warp feed them to mma.m16n8k16, so that a warp reads 512 bytes at a
// time and no shared memory is passed: with g = lane / 4, t = lane % 4, for each block of 32 columns (4 a unit) lane
// (g, t) owns columns 8 t .. 8 t + 7 of rows g and g + 8.
//     4 bits: [2 pairs of blocks][32 lanes][16 bytes]: the words (block 0, row g), (block 0, row g + 8), (block 1, row
//     g),
//             (block 1, row g + 8); in a word columns 2 j and 2 j + 1 are the nibbles j and j + 4, j = 0..3
//     8 bits: [4 blocks][32 lanes][16 bytes]: 8 codes of row g, 8 of row g + 8, columns in order
// Missing rows and columns are zero codes with zero scales and offsets. A stored code's zero is `zero`.
//
// Bytes a weight: 0.5 + 2 / group (4 bits), 1 + 2 / group (8 bits), 2 / group more with offsets.
#pragma once

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

enum class Codes : uint8_t { kF16, kBF16, kF8E4M3, kCode4, kCode8 };

inline constexpr int64_t kTileRows = 16;
inline constexpr int64_t kUnitColumns = 128;

struct Weight {
  Codes codes = Codes::kF16;
  uint8_t group = 32;       // codes: 16, 32, 64 or 128
  bool has_offset = false;  // codes
  uint8_t zero = 0;         // codes
  int64_t rows = 0, cols = 0;
  int64_t stride = 0;  // floats: elements between rows, a multiple of 16 bytes
  const void* data = nullptr;
  float scale = 1;                   // f8: factor of all weights
  const float* row_scale = nullptr;  // f8: [rows] or null
};

constexpr bool is_coded(Codes codes) {
  return codes >= Codes::kCode4;
}

// Bytes of a unit, and of the packed matrix.
constexpr int64_t unit_bytes(const Weight& w) {
  const int64_t codes = kTileRows * kUnitColumns / (w.codes == Codes::kCode4 ? 2 : 1);
  return codes + (w.has_offset ? 2 : 1) * kTileRows * (kUnitColumns / w.group) * 2;
}
constexpr int64_t units(const Weight& w) {
  return (w.cols + kUnitColumns - 1) / kUnitColumns;
}
constexpr int64_t tiles(const Weight& w) {
  return (w.rows + kTileRows - 1) / kTileRows;
}
constexpr int64_t tile_bytes(const Weight& w) {
  return units(w) * unit_bytes(w);
}
constexpr int64_t packed_bytes(const Weight& w) {
  return tiles(w) * tile_bytes(w);
}

// On the host: one tile from the group form of its rows (quant/group_codes.h). codes: [row_count][cols] unsigned,
// scale and offset: [row_count][cols / group] (cols a multiple of the group); offset null without has_offset. `layout`
// is a Weight whose data is not looked at. dst: tile_bytes(layout) bytes of host memory.
void pack_tile(const Weight& layout, const uint8_t* codes, const float* scale, const float* offset, int64_t row_count,
               void* dst);

// On the device: weight rows [first, first + count) as row-major f16 or bf16, for kernels that want floats.
struct UnpackParams {
  Weight weight;
  int64_t first = 0, count = 0;
  Element element = Element::kF16;
  void* y = nullptr;  // [count, cols]
  int64_t y_stride = 0;
};
void unpack(const UnpackParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
