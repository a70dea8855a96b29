// SPDX-License-Identifier: Apache-2.0
// Clip: the bounds are inputs from opset 11 on, attributes before.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_clip(NodeContext& node) {
  if (node.version() >= 11) {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 3));
    return node.lower("clip", node.inputs());
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  const DType dtype = node.type(node.input(0)).dtype;
  std::vector<ValueId> inputs = {node.input(0), ValueId(), ValueId()};
  if (node.has_attr("min")) {
    NEREID_TRY(const double least, node.real("min"));
    inputs[1] = node.constant_scalar(dtype, least);
  }
  if (node.has_attr("max")) {
    NEREID_TRY(const double most, node.real("max"));
    inputs[2] = node.constant_scalar(dtype, most);
  }
  return node.lower("clip", std::move(inputs));
}

}  // namespace nereid::import::onnx
