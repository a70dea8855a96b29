// SPDX-License-Identifier: Apache-2.0
// Split: the sizes are an input from opset 13 on, an attribute before (or, in opset 1, either).
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_split(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, node.version() == 1 || node.version() >= 13 ? 2 : 1));
  NEREID_TRY(const int64_t axis, node.integer("axis", 0));
  auto parts = static_cast<int64_t>(node.output_count());
  ValueId sizes = node.input(1);
  if (node.has_attr("num_outputs")) {
    NEREID_TRY(parts, node.integer("num_outputs"));
  } else if (node.version() < 13 && node.has_attr("split")) {
    NEREID_TRY(const std::vector<int64_t> listed, node.integers("split"));
    sizes = node.constant_integers(listed);
    parts = static_cast<int64_t>(listed.size());
  } else if (node.version() == 1 && sizes.valid()) {  // in the element type of what is split
    NEREID_TRY(sizes, node.emit("cast", {sizes}, {{"dtype", std::string("i64")}}));
  }
  if (const auto known = node.known_integers(sizes)) parts = static_cast<int64_t>(known->size());
  const auto wanted = static_cast<int64_t>(node.output_count());
  if (parts < wanted) return invalid_argument("it has {} outputs for {} parts", wanted, parts);
  if (parts > 1 << 16) return invalid_argument("it asks for {} parts", parts);
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_all("split_along", {node.input(0), sizes}, {{"axis", axis}, {"num_outputs", parts}},
                           static_cast<size_t>(parts)));
  for (size_t i = 0; i < node.output_count(); ++i) node.give(i, results[i]);
  return Status::ok();
}

}  // namespace nereid::import::onnx
