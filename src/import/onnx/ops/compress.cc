// SPDX-License-Identifier: Apache-2.0
// Compress and Unique: without an axis they look at all elements in order.
#include "import/onnx/ops/op_list.h"

namespace nereid::import::onnx {

Status import_compress(NodeContext& node) {
  const bool compress = node.op_type() == "Compress";
  NEREID_RETURN_IF_ERROR(node.expect_inputs(compress ? 2 : 1, compress ? 2 : 1));
  std::vector<ValueId> inputs = node.inputs();
  int64_t axis = 0;
  if (node.has_attr("axis")) {
    NEREID_TRY(axis, node.integer("axis"));
  } else {
    NEREID_TRY(inputs[0], node.emit("reshape_to", {inputs[0], node.constant_integers({-1})}));
  }
  if (compress) return node.lower("compress", std::move(inputs), {{"axis", axis}});
  NEREID_TRY(const int64_t sorted, node.integer("sorted", 1));
  return node.lower("unique", std::move(inputs), {{"axis", axis}, {"sorted", sorted != 0}});
}

}  // namespace nereid::import::onnx
