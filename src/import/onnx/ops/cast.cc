// SPDX-License-Identifier: Apache-2.0
// Cast: the element type is a number from opset 6 on, a word before.
#include "import/onnx/ops/op_list.h"

namespace nereid::import::onnx {

Status import_cast(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const DType to, node.dtype("to"));
  return node.lower("cast", {node.input(0)}, {{"dtype", std::string(dtype_name(to))}});
}

}  // namespace nereid::import::onnx
