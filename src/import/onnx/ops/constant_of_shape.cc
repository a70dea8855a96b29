// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape: the value is a tensor of one element, 0 of f32 where it is missing.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_constant_of_shape(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  if (!node.has_attr("value"))
    return node.lower("constant_of_shape", {node.input(0), node.constant_scalar(DType::f32, 0)});
  NEREID_TRY(ops::Tensor value, node.tensor("value"));
  return node.lower("constant_of_shape", {node.input(0), node.constant(std::move(value))});
}

}  // namespace nereid::import::onnx
