// SPDX-License-Identifier: Apache-2.0
// How a weight matrix lies in memory for the CPU kernels: tiles of 16 rows, columns interleaved, one linear stream.
//
// A matrix [rows, cols] becomes ceil(rows / 16) tiles. Integer codes (w = scale * code + offset per group of 16 or 32
// columns) come in blocks of 64 columns:
//     f16 scale[64 / group][16], f16 offset[64 / group][16] (only with has_offset), codes of 64 columns
// kCode4: 4 columns of 16 rows are 64 bytes; the low nibbles hold columns 8i..8i+3, the high ones 8i+4..8i+7.
// kCode8: the same without sharing, 64 bytes for 4 columns; kCode7: likewise, and no code is above 127 (5- and 6-bit
// formats), which AVX2 multiplies faster. Without has_offset the offset is -zero * scale.
// Floats are column after column of 16 rows. Missing rows and columns are zero codes with zero scales.
// The layout does not depend on the instruction set: a 16-row slice is one AVX-512, two AVX2 or four SSE registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::kernels {

inline constexpr int64_t kTileRows = 16;
inline constexpr int64_t kBlockColumns = 64;

enum class Codes : uint8_t { kCode4, kCode7, kCode8, kF16, kBF16, kF32 };

struct PackedLayout {
  Codes codes = Codes::kF32;
  uint8_t group = 32;       // columns that share a scale; 16 or 32 (integer codes)
  bool has_offset = false;  // offsets are stored; otherwise offset = -zero * scale
  uint8_t zero = 0;
  int64_t rows = 0, cols = 0;

  bool is_float() const { return codes >= Codes::kF16; }
  int64_t tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  int64_t blocks() const { return (cols + kBlockColumns - 1) / kBlockColumns; }  // of 64 columns
  int64_t padded_cols() const { return is_float() ? cols : blocks() * kBlockColumns; }
  int64_t block_bytes() const;  // integer codes: one tile, 64 columns
  int64_t tile_bytes() const;
  int64_t bytes() const { return tiles() * tile_bytes(); }

  std::string to_text() const;
  static Result<PackedLayout> from_text(std::string_view text);
  bool operator==(const PackedLayout&) const = default;
};

// Ok if a matrix of this size has a layout: 1 to 2^31 rows and columns and at most 2^48 elements, so that no size in
// bytes overflows.
Status check_packed_size(int64_t rows, int64_t cols);

// The layout for a weight of this dtype and shape. kUnsupported (naming the dtype) for integers, strings, f64, and for
// sizes out of all proportion.
Result<PackedLayout> packed_layout(DType dtype, int64_t rows, int64_t cols);

// Packs tiles [first_tile, first_tile + tile_count) of the row-wise concatenation of `parts` (all of the layout's
// dtype; a kF32 layout takes any and decodes it) into dst, which holds tile_count * tile_bytes() bytes. Threads may
// pack disjoint ranges at the same time.
void pack_tiles(const PackedLayout& layout, std::span<const ConstTensorView> parts, int64_t first_tile,
                int64_t tile_count, std::byte* dst);

// A packed matrix somebody else owns.
struct PackedWeight {
  PackedLayout layout;
  const std::byte* data = nullptr;  // 64-byte aligned
  const std::byte* tile(int64_t t) const { return data + t * layout.tile_bytes(); }
};

// Decodes `count` columns from column 0 of one row, in f32: the embedding's path, and the tests' oracle.
void unpack_row(const PackedWeight& weight, int64_t row, float* dst);

}  // namespace nereid::kernels
