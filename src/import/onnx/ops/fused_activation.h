// SPDX-License-Identifier: Apache-2.0
// The activation that com.microsoft's fused operators name by an attribute.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

// Gives the node's output: y after the activation `name`, which takes `params` in ONNX's order (defaults for those left
// out); y itself if the name is empty. kUnsupported for others than Relu, Tanh, Sigmoid, LeakyRelu, HardSigmoid, Clip.
Status lower_activation(NodeContext& node, ValueId y, std::string_view name, const std::vector<double>& params);

}  // namespace nereid::import::onnx
