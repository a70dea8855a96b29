// SPDX-License-Identifier: Apache-2.0
// Slice: starts, ends and axes are inputs from opset 10 on, attributes before.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_slice(NodeContext& node) {
  if (node.version() >= 10) {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 5));
    return node.lower("slice", node.inputs());
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const std::vector<int64_t> starts, node.integers("starts"));
  NEREID_TRY(const std::vector<int64_t> ends, node.integers("ends"));
  std::vector<ValueId> inputs = {node.input(0), node.constant_integers(starts), node.constant_integers(ends)};
  if (node.has_attr("axes")) {
    NEREID_TRY(const std::vector<int64_t> axes, node.integers("axes"));
    inputs.push_back(node.constant_integers(axes));
  }
  return node.lower("slice", std::move(inputs));
}

}  // namespace nereid::import::onnx
