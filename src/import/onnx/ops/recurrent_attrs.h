// SPDX-License-Identifier: Apache-2.0
// The attributes that all recurrent operators have.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Result<ops::Attrs> recurrent_attrs(const NodeContext& node);

}  // namespace nereid::import::onnx
