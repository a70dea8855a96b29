// SPDX-License-Identifier: Apache-2.0
// What convolutions of bytes share: their shape, and the sums of products in 32 bits.
#pragma once

#include "ops/convolution.h"
#include "ops/quantization.h"

namespace nereid::ops {

// The result's shape; inputs x [n, c, d1, ...] and w [m, c / group, k1, ...] are bytes, zero points (absent or not) one
// number, and of w's also one for each of m.
Result<Shape> quantized_conv_shape(const InferContext& ctx, const ShapeRule& rule, size_t x, size_t w, size_t x_zero,
                                   size_t w_zero);

// The sum over channels and taps of (x - x_zero) * (w - w_zero), wrapping; padding counts as x_zero. Views with null
// data are absent zero points.
Result<Elements<uint32_t>> quantized_conv_sums(const EvalContext& ctx, size_t x, size_t w, size_t x_zero,
                                               size_t w_zero);

}  // namespace nereid::ops
