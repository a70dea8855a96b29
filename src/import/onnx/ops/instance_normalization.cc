// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization: opset 1 has a hint about memory that is ignored.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_instance_normalization(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 3));
  NEREID_TRY(const double epsilon, node.real("epsilon", 1e-5));
  return node.lower("instance_normalization", node.inputs(), {{"epsilon", epsilon}});
}

}  // namespace nereid::import::onnx
