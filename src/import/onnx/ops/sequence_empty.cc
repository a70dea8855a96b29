// SPDX-License-Identifier: Apache-2.0
// SequenceEmpty: a sequence of nothing has an element type all the same.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_sequence_empty(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(0, 0));
  NEREID_TRY(const DType dtype, node.dtype("dtype", DType::f32));
  return node.lower("sequence_construct", {}, {{"dtype", std::string(dtype_name(dtype))}});
}

}  // namespace nereid::import::onnx
