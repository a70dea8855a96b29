// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax: along one axis from opset 13 on; before, over all dimensions from the axis on.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_softmax(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  const std::string_view op = node.op_type() == "Hardmax"   ? "hardmax"
                              : node.op_type() == "Softmax" ? "softmax"
                                                            : "log_softmax";
  const bool flattens = node.version() < 13;
  NEREID_TRY(const int64_t axis, node.integer("axis", flattens ? 1 : -1));
  const ops::TensorType& x = node.type(node.input(0));
  // The last axis alone is the same in both.
  const bool last = axis == -1 || (x.shape.is_ranked() && axis == x.shape.rank() - 1);
  if (!flattens || last) return node.lower(op, node.inputs(), {{"axis", axis}});
  NEREID_TRY(const ValueId shape, node.emit("shape", {node.input(0)}));
  NEREID_TRY(const ValueId flat, node.emit("flatten", {node.input(0)}, {{"axis", axis}}));
  NEREID_TRY(const ValueId rows, node.emit(op, {flat}, {{"axis", int64_t{-1}}}));
  return node.lower("reshape_to", {rows, shape}, {{"allowzero", true}});
}

}  // namespace nereid::import::onnx
