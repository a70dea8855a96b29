// SPDX-License-Identifier: Apache-2.0
// How operators of old opsets lay a tensor of few dimensions over one of more.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

// The tensor with as many dimensions of size 1 behind its own as put its first at `axis` of one with `rank` dimensions.
Result<ValueId> stretch_to_axis(NodeContext& node, ValueId value, int64_t rank, int64_t axis);

}  // namespace nereid::import::onnx
