// SPDX-License-Identifier: Apache-2.0
// One tile of codes into the order of weight.h, on the host.
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/cuda/weight.h"

namespace nereid::kernels::cuda {
namespace {

// f32 to f16 bits, rounded to nearest even; what is too large becomes infinite.
uint16_t half_bits(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x), sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal: units of 2^-24
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(std::fabs(x) * 16777216.0f)));
  }
  return static_cast<uint16_t>(sign | ((magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13));
}

void put_half(uint8_t* dst, float x) {
  const uint16_t bits = half_bits(x);
  std::memcpy(dst, &bits, sizeof(bits));
}

}  // namespace

void pack_tile(const Weight& layout, const uint8_t* codes, const float* scale, const float* offset, int64_t row_count,
               void* dst) {
  const int64_t row_groups = kUnitColumns / layout.group, scales_bytes = kTileRows * row_groups * 2;
  const int64_t cols_groups = layout.cols / layout.group;
  std::memset(dst, 0, static_cast<size_t>(tile_bytes(layout)));
  for (int64_t u = 0; u < units(layout); ++u) {
    uint8_t* unit = static_cast<uint8_t*>(dst) + u * unit_bytes(layout);
    uint8_t* words = unit + scales_bytes * (layout.has_offset ? 2 : 1);
    for (int64_t r = 0; r < row_count; ++r) {
      for (int64_t k = 0; k < row_groups && u * row_groups + k < cols_groups; ++k) {
        const int64_t from = r * cols_groups + u * row_groups + k, at = (r * row_groups + k) * 2;
        put_half(unit + at, scale[from]);
        if (layout.has_offset) put_half(unit + scales_bytes + at, offset[from]);
      }
      const uint8_t* row = codes + r * layout.cols + u * kUnitColumns;
      const int64_t cols =
          layout.cols - u * kUnitColumns < kUnitColumns ? layout.cols - u * kUnitColumns : kUnitColumns;
      for (int64_t c = 0; c < cols; ++c) {
        const int64_t block = c / 32, lane = r % 8 * 4 + c % 32 / 8, j = c % 8;
        if (layout.codes == Codes::kCode4) {
          const int64_t nibble = j / 2 + 4 * (j % 2);
          const int64_t at = block / 2 * 512 + 16 * lane + (block % 2 * 2 + r / 8) * 4 + nibble / 2;
          words[at] = static_cast<uint8_t>(words[at] | row[c] << (nibble % 2 * 4));
        } else {
          words[block * 512 + 16 * lane + r / 8 * 8 + j] = row[c];
        }
      }
    }
  }
}

}  // namespace nereid::kernels::cuda
