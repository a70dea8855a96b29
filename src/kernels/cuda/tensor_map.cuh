// SPDX-License-Identifier: Apache-2.0
// Maps for the copy engine: tiles of 128-byte rows, swizzled as wgmma wants them. Host side.
#pragma once

#include <cuda.h>

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

// False where the device is no Hopper, or the driver makes no maps.
bool can_map_tiles();
// Of a matrix of two-byte elements: tiles of `box` rows of 64 columns; what lies outside is zeros.
CUtensorMap tile_map(Element element, const void* data, int64_t rows, int64_t cols, int64_t stride, int box);
// Of bytes: tiles of `box` rows of 64, in the swizzle of 64 bytes.
CUtensorMap byte_tile_map(const void* data, int64_t rows, int64_t cols, int64_t stride, int box);

}  // namespace nereid::kernels::cuda
