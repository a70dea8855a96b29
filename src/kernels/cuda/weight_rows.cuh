// SPDX-License-Identifier: Apache-2.0
// Single rows of any weight, eight columns at a time: what embedding and unpack read. The address is weight.h's layout.
#pragma once

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/weight.h"

namespace nereid::kernels::cuda {

// Columns col .. col + 7 (a multiple of 8) of a row.
__device__ __forceinline__ void weight_row8(const Weight& w, int64_t row, int64_t col, float (&v)[8]) {
  const char* data = static_cast<const char*>(w.data);
  if (w.codes == Codes::kF16) return load8(static_cast<const __half*>(w.data) + row * w.stride + col, v);
  if (w.codes == Codes::kBF16) return load8(static_cast<const __nv_bfloat16*>(w.data) + row * w.stride + col, v);
  if (w.codes == Codes::kF8E4M3) {
    const uint2 words = *reinterpret_cast<const uint2*>(data + row * w.stride + col);
    const float factor = 256.0f * w.scale * (w.row_scale == nullptr ? 1.0f : w.row_scale[row]);
    const uint32_t both[2] = {words.x, words.y};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float2 a = unpack2<__half>(f8_pair_over_256(__byte_perm(both[i], 0, 0x1404)));
      const float2 b = unpack2<__half>(f8_pair_over_256(__byte_perm(both[i], 0, 0x3424)));
      v[4 * i] = factor * a.x, v[4 * i + 1] = factor * a.y, v[4 * i + 2] = factor * b.x, v[4 * i + 3] = factor * b.y;
    }
    return;
  }
  const int r = static_cast<int>(row % kTileRows), block = static_cast<int>(col % kUnitColumns) / 32;
  const int lane = r % 8 * 4 + static_cast<int>(col % 32) / 8, groups = kUnitColumns / w.group;
  const char* unit = data + row / kTileRows * tile_bytes(w) + col / kUnitColumns * unit_bytes(w);
  const int at = r * groups + static_cast<int>(col % kUnitColumns) / w.group;
  const float scale = __half2float(reinterpret_cast<const __half*>(unit)[at]);
  unit += 2 * kTileRows * groups;
  float offset = 0.0f;
  if (w.has_offset) {
    offset = __half2float(reinterpret_cast<const __half*>(unit)[at]);
    unit += 2 * kTileRows * groups;
  }
  const float zero = static_cast<float>(w.zero);
  if (w.codes == Codes::kCode4) {
    const uint32_t word =
        *reinterpret_cast<const uint32_t*>(unit + block / 2 * 512 + 16 * lane + (block % 2 * 2 + r / 8) * 4);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      v[2 * j] = fmaf(static_cast<float>((word >> (4 * j)) & 15u) - zero, scale, offset);
      v[2 * j + 1] = fmaf(static_cast<float>((word >> (4 * j + 16)) & 15u) - zero, scale, offset);
    }
  } else {
    const uint8_t* codes = reinterpret_cast<const uint8_t*>(unit) + block * 512 + 16 * lane + r / 8 * 8;
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = fmaf(static_cast<float>(codes[j]) - zero, scale, offset);
  }
}

}  // namespace nereid::kernels::cuda
