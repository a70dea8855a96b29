// SPDX-License-Identifier: Apache-2.0
// Codes looked up byte by byte, which every machine can do. Private to kernels/cpu.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::kernels {

inline void map_codes_singly(const uint8_t* map, std::byte* y, int64_t stride, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i, y += stride)
    for (int64_t c = 0; c < columns; ++c) y[c] = std::byte{map[static_cast<uint8_t>(y[c])]};
}

}  // namespace nereid::kernels
