// SPDX-License-Identifier: Apache-2.0
// TopK: k is an attribute before opset 10, an input since.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_top_k(NodeContext& node) {
  NEREID_TRY(const int64_t axis, node.integer("axis", -1));
  NEREID_TRY(const int64_t largest, node.integer("largest", 1));
  NEREID_TRY(const int64_t sorted, node.integer("sorted", 1));
  ValueId k = node.input(1);
  if (node.version() < 10) {
    NEREID_TRY(const int64_t given, node.integer("k"));
    k = node.constant_integers({given});
  } else {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  }
  return node.lower("top_k", {node.input(0), k}, {{"axis", axis}, {"largest", largest != 0}, {"sorted", sorted != 0}});
}

}  // namespace nereid::import::onnx
