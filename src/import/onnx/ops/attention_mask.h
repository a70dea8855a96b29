// SPDX-License-Identifier: Apache-2.0
// What the attention operators of com.microsoft say about keys that are not seen, as one mask that is added to scores.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

// `keys`: i32[N] (how many keys each sample has), i32[N, T] or i32[N, S, T] (1: seen); `bias`: added to scores; either
// may be absent (the result is absent if both are). `total`: T, which lengths need.
Result<ValueId> attention_mask(NodeContext& node, ValueId keys, ValueId bias, DType dtype, const Dim& total);

// The last dimension cut into parts of these sizes.
Result<std::vector<ValueId>> cut(NodeContext& node, ValueId x, const std::vector<int64_t>& sizes);

// [N, H, S, D] as [N, S, H * D].
Result<ValueId> merge_heads(NodeContext& node, ValueId x);

}  // namespace nereid::import::onnx
