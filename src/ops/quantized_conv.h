// SPDX-License-Identifier: Apache-2.0
// What convolutions of bytes share: their shape, and the sums of products in 32 bits.
#pragma once

#include "ops/quantization.h"

namespace nereid::ops {

// The attributes of conv, by their names.
inline constexpr AttrSpec kConvAttrs[] = {
    {"auto_pad", AttrSpec::Kind::kString, "NOTSET", "NOTSET (pads), SAME_UPPER, SAME_LOWER or VALID"},
    {"dilations", AttrSpec::Kind::kInts, "[]", "distance of taps, one a spatial axis; empty: 1"},
    {"group", AttrSpec::Kind::kInt, "1", "groups of channels that do not mix"},
    {"kernel_shape", AttrSpec::Kind::kInts, "[]", "spatial sizes of w; empty: as w has them"},
    {"pads", AttrSpec::Kind::kInts, "[]", "padding: all begins, then all ends; empty: 0"},
    {"strides", AttrSpec::Kind::kInts, "[]", "steps, one a spatial axis; empty: 1"},
};

// The result's shape; inputs x [n, c, d1, ...] and w [m, c / group, k1, ...] are bytes, zero points (absent or not) one
// number, and of w's also one for each of m.
Result<Shape> quantized_conv_shape(const InferContext& ctx, const ShapeRule& rule, size_t x, size_t w, size_t x_zero,
                                   size_t w_zero);

// The sum over channels and taps of (x - x_zero) * (w - w_zero), wrapping; padding counts as x_zero. Views with null
// data are absent zero points.
Result<Elements<uint32_t>> quantized_conv_sums(const EvalContext& ctx, size_t x, size_t w, size_t x_zero,
                                               size_t w_zero);

Cost quantized_conv_cost(const InferContext& ctx, std::span<const TensorType> outputs, size_t w);

}  // namespace nereid::ops
