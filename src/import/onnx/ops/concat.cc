// SPDX-License-Identifier: Apache-2.0
// Concat: the axis may be missing before opset 4 and is 1 then.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_concat(NodeContext& node) {
  NEREID_TRY(const int64_t axis, node.version() < 4 ? node.integer("axis", 1) : node.integer("axis"));
  return node.lower("concat", node.inputs(), {{"axis", axis}});
}

}  // namespace nereid::import::onnx
