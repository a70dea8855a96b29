// SPDX-License-Identifier: Apache-2.0
// Range: what it computes with (stash_type) is f32 for narrower floats, as here.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_range(NodeContext& node) {
  const bool contrib = node.domain() == "com.microsoft";  // there the step may be missing and is 1 then
  NEREID_RETURN_IF_ERROR(node.expect_inputs(contrib ? 2 : 3, 3));
  std::vector<ValueId> inputs = node.inputs();
  if (inputs.size() == 2) inputs.push_back(node.constant_scalar(node.type(inputs[0]).dtype, 1));
  return node.lower("range", std::move(inputs));
}

}  // namespace nereid::import::onnx
