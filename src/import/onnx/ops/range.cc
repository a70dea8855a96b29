// SPDX-License-Identifier: Apache-2.0
// Range: what it computes with (stash_type) is f32 for narrower floats, as here.
#include "import/onnx/ops/op_list.h"

namespace nereid::import::onnx {

Status import_range(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 3));
  return node.lower("range", node.inputs());
}

}  // namespace nereid::import::onnx
