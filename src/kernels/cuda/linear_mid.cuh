// SPDX-License-Identifier: Apache-2.0
// The products of linear.h for 17 to 128 tokens on Hopper, in linear_mid*.cu. Private to this folder.
#pragma once

#include "kernels/cuda/linear.h"

namespace nereid::kernels::cuda {

inline constexpr int64_t kMidTokens = 128;
inline constexpr int64_t kMidTokensF8 = 256;  // four times 64: sooner than unpacking

// False where the device is no Hopper, or the weight is too small to be worth it.
bool can_linear_mid(const LinearParams& params);
// cluster: blocks that share a tile, 1, 2 or 4; 0: chosen.
void linear_mid(const LinearParams& params, int cluster, const Queue& queue);
void linear_mid_f8(const LinearParams& params, int cluster, const Queue& queue);
// Any weight as rows of floats in the workspace, and then wgmma.
void linear_unpacked(const LinearParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
