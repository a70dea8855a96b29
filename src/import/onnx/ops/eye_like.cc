// SPDX-License-Identifier: Apache-2.0
// EyeLike: the element type is a number of the format, or that of the input.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_eye_like(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const int64_t k, node.integer("k", 0));
  NEREID_TRY(const DType dtype, node.dtype("dtype", node.type(node.input(0)).dtype));
  return node.lower("eye_like", {node.input(0)}, {{"dtype", std::string(dtype_name(dtype))}, {"k", k}});
}

}  // namespace nereid::import::onnx
