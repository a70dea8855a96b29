// SPDX-License-Identifier: Apache-2.0
// Squeeze and Unsqueeze: the axes are an input from opset 13 on, an attribute before.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_squeeze(NodeContext& node) {
  const bool squeeze = node.op_type() == "Squeeze";
  const std::string_view op = squeeze ? "squeeze" : "unsqueeze";
  if (node.version() >= 13) {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(squeeze ? 1 : 2, 2));
    return node.lower(op, node.inputs());
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  if (squeeze && !node.has_attr("axes")) return node.lower(op, {node.input(0)});
  NEREID_TRY(const std::vector<int64_t> axes, node.integers("axes"));
  return node.lower(op, {node.input(0), node.constant_integers(axes)});
}

}  // namespace nereid::import::onnx
