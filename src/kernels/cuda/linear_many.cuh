// SPDX-License-Identifier: Apache-2.0
// The products of linear.h for many tokens and weights of two-byte floats, in linear_many.cu. Private to this folder.
#pragma once

#include "kernels/cuda/linear.h"

namespace nereid::kernels::cuda {

// False where the device is no Hopper.
bool can_linear_many();
void linear_many(const LinearParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
