// SPDX-License-Identifier: Apache-2.0
// Compress and Unique: without an axis they look at all elements in order.
#include "import/onnx/ops/node_context.h"

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

// com.microsoft's Unique: of a list, in order of appearance, with the place of each element and the counts.
Status import_unique_in_order(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const std::vector<ValueId> all,
             node.emit_all("unique", {node.input(0)}, {{"axis", int64_t{0}}, {"sorted", false}}, 4));
  constexpr size_t kOrder[] = {0, 2, 3};
  for (size_t i = 0; i < node.output_count() && i < std::size(kOrder); ++i) node.give(i, all[kOrder[i]]);
  return Status::ok();
}

}  // namespace nereid::import::onnx
