// SPDX-License-Identifier: Apache-2.0
// How the channels-last forms of image ops use their channels-first ones: types and values with the channel moved.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/op.h"
#include "ops/tensor.h"

namespace nereid::ops {

// [N, d1, ..., C] <-> [N, C, d1, ...]; shapes of two dimensions or less stay.
Shape channels_first(const Shape& last);
Shape channels_last(const Shape& first);
Tensor channels_first(const ConstTensorView& last);
Tensor channels_last(const ConstTensorView& first);

// The attributes that `op` has of these.
Attrs attrs_for(const OpDef& op, const Attrs& attrs);

// The channels-first op's results for inputs of which the first is channels-last; results are channels-last.
Result<std::vector<TensorType>> infer_as(std::string_view op, const InferContext& ctx, size_t inputs);
Result<Tensor> run_as(std::string_view op, const EvalContext& ctx, size_t inputs);

}  // namespace nereid::ops
