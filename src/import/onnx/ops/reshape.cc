// SPDX-License-Identifier: Apache-2.0
// Reshape: the shape is an input from opset 5 on, an attribute before.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_reshape(NodeContext& node) {
  if (node.version() < 5) {
    NEREID_TRY(const std::vector<int64_t> shape, node.integers("shape"));
    return node.lower("reshape_to", {node.input(0), node.constant_integers(shape)}, {{"allowzero", false}});
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  NEREID_TRY(const int64_t allow_zero, node.integer("allowzero", 0));
  return node.lower("reshape_to", node.inputs(), {{"allowzero", allow_zero != 0}});
}

}  // namespace nereid::import::onnx
