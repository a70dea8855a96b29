// SPDX-License-Identifier: Apache-2.0
// The attributes that Gemm and the fused operators made of it share.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

// alpha, beta, transA and transB as our gemm has them.
Result<ops::Attrs> gemm_attrs(const NodeContext& node);

}  // namespace nereid::import::onnx
