// SPDX-License-Identifier: Apache-2.0
// Optional: of its input, or of nothing, whose type is an attribute then.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_optional(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(0, 1));
  if (node.has_input(0)) return node.lower("optional", {node.input(0)});
  NEREID_TRY(const ops::TensorType type, node.type_attr("type"));
  if (type.container != ops::Container::kNone && type.container != ops::Container::kSequence)
    return unsupported("an optional {} is not known", type.to_string());
  return node.lower("optional", {}, {{"dtype", std::string(dtype_name(type.dtype))}, {"sequence", !type.is_tensor()}});
}

}  // namespace nereid::import::onnx
