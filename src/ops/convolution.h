// SPDX-License-Identifier: Apache-2.0
// What the convolutions share: their attributes, and what their shape rules ask of weights [O, C / group, spatial...].
#pragma once

#include <vector>

#include "ops/op.h"
#include "ops/shape_rule.h"
#include "ops/window.h"

namespace nereid::ops {

inline constexpr AttrSpec kConvGroup = {"group", AttrSpec::Kind::kInt, "1", "groups of channels that do not mix"};
inline constexpr AttrSpec kConvKernelShape = {"kernel_shape", AttrSpec::Kind::kInts, "[]",
                                              "spatial sizes of w; empty: as w has them"};
// Of convolutions that are no more than that.
inline constexpr AttrSpec kConvAttrs[] = {kWindowAutoPad,   kWindowDilations, kConvGroup,
                                          kConvKernelShape, kWindowPads,      kWindowStrides};
// Of transposed ones.
inline constexpr AttrSpec kConvOutputPadding = {"output_padding", AttrSpec::Kind::kInts, "[]",
                                                "positions added at the end, one a spatial axis; empty: 0"};
inline constexpr AttrSpec kConvOutputShape = {"output_shape", AttrSpec::Kind::kInts, "[]",
                                              "spatial sizes of y, from which the padding follows; empty: not given"};
inline constexpr AttrSpec kConvCut = {"pads", AttrSpec::Kind::kInts, "[]",
                                      "what is cut off: all begins, then all ends; empty: 0"};

// The attribute `group`. kInvalidArgument if it is less than 1.
Result<int64_t> conv_group(const InferContext& ctx);
// kInvalidArgument unless the channels of the images `x` and the weights `w` can be shared by so many groups.
Status check_conv_channels(const ShapeRule& rule, size_t x, size_t w, int64_t group);
// The kernel's spatial sizes: those of `w`, which kernel_shape must not contradict; -1 where neither tells.
Result<std::vector<int64_t>> conv_kernel(const InferContext& ctx, const ShapeRule& rule, size_t w);
// The result of images `x` under a kernel of these sizes (of conv_kernel): [batch, out, spatial...].
Result<Shape> conv_shape(const InferContext& ctx, const Shape& x, const Dim& out, const std::vector<int64_t>& kernel);

// Two for each weight but those of the other output channels, for each element of `moved`: the result, or of a
// transposed convolution what goes in.
double conv_flops(const TensorType& w, const TensorType& moved);
// Traffic and flops of a convolution whose weights are input 1.
Cost conv_cost(const InferContext& ctx, std::span<const TensorType> outputs);
Cost conv_transpose_cost(const InferContext& ctx, std::span<const TensorType> outputs);

}  // namespace nereid::ops
