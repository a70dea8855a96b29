// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors before opset 7: the second is spread over the first only if `broadcast` is set, with its
// dimensions where `axis` says.
#include "import/onnx/ops/broadcast_axis.h"

#include <array>

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kOps = {{{"Add", "add"},
                                                                                 {"And", "and"},
                                                                                 {"Div", "div"},
                                                                                 {"Equal", "equal"},
                                                                                 {"Greater", "greater"},
                                                                                 {"Less", "less"},
                                                                                 {"Mul", "mul"},
                                                                                 {"Or", "or"},
                                                                                 {"Pow", "pow"},
                                                                                 {"Sub", "sub"},
                                                                                 {"Xor", "xor"}}};

}  // namespace

Result<ValueId> stretch_to_axis(NodeContext& node, ValueId value, int64_t rank, int64_t axis) {
  const ops::TensorType& type = node.type(value);
  if (!type.shape.is_ranked()) return unsupported("how many dimensions its inputs have is not known");
  const int64_t own = type.shape.rank();
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + own > rank)
    return invalid_argument("its second input {} does not fit at axis {} of the first, which has {} dimensions",
                            type.to_string(), axis, rank);
  if (axis + own == rank) return value;
  std::vector<int64_t> shape(static_cast<size_t>(own), 0);  // 0: as it is
  shape.resize(static_cast<size_t>(rank - axis), 1);
  return node.emit("reshape_to", {value, node.constant_integers(shape)}, {{"allowzero", false}});
}

Status import_broadcast_axis(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  std::string_view op;
  for (const auto& [name, ours] : kOps)
    if (name == node.op_type()) op = ours;
  NEREID_CHECK(!op.empty());
  NEREID_TRY(const int64_t broadcast, node.integer("broadcast", 0));
  ValueId b = node.input(1);
  if (broadcast != 0 && node.has_attr("axis")) {
    NEREID_TRY(const int64_t axis, node.integer("axis"));
    const Shape& a = node.type(node.input(0)).shape;
    if (!a.is_ranked()) return unsupported("how many dimensions its inputs have is not known");
    NEREID_TRY(b, stretch_to_axis(node, b, a.rank(), axis));
  }
  return node.lower(op, {node.input(0), b});
}

}  // namespace nereid::import::onnx
