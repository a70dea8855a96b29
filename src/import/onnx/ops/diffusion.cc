// SPDX-License-Identifier: Apache-2.0
// What com.microsoft has for diffusion models: GroupNorm (channels last if not told otherwise), BiasAdd, BiasSplitGelu.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

// The channels of an image second, or last again.
Result<ValueId> move_channels(NodeContext& node, ValueId x, bool last, int64_t rank) {
  std::vector<int64_t> order = {0};
  if (!last) order.push_back(rank - 1);
  for (int64_t d = last ? 2 : 1; d < (last ? rank : rank - 1); ++d) order.push_back(d);
  if (last) order.push_back(1);
  return node.emit("transpose", {x}, {{"permutation", order}});
}

}  // namespace

Status import_group_norm(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 3));
  NEREID_TRY(const int64_t groups, node.integer("groups"));
  NEREID_TRY(const double epsilon, node.real("epsilon", 1e-5));
  NEREID_TRY(const int64_t activation, node.integer("activation"));
  NEREID_TRY(const int64_t last, node.integer("channels_last", 1));
  if (activation != 0 && activation != 1)
    return invalid_argument("activation is {} and should be 0 (none) or 1 (SiLU)", activation);
  const Shape& shape = node.type(node.input(0)).shape;
  if (!shape.is_ranked()) return unsupported("how many dimensions its input has is not known");
  const int64_t rank = shape.rank();
  if (rank < 3) return invalid_argument("its input has {} dimensions and should have at least 3", rank);
  ValueId x = node.input(0);
  if (last != 0) {
    NEREID_TRY(x, move_channels(node, x, false, rank));
  }
  NEREID_TRY(ValueId y, node.emit("group_normalization", {x, node.input(1), node.input(2)},
                                  {{"epsilon", epsilon}, {"num_groups", groups}}));
  if (activation == 1) {
    NEREID_TRY(y, node.emit("silu", {y}));
  }
  if (last != 0) {
    NEREID_TRY(y, move_channels(node, y, true, rank));
  }
  return node.lower("identity", {y});
}

Status import_bias_add(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 3));
  NEREID_TRY(const ValueId y, node.emit("add", {node.input(0), node.input(1)}));
  return node.lower("add", {y, node.input(2)});
}

Status import_bias_split_gelu(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  const Shape& shape = node.type(node.input(1)).shape;
  if (!shape.is_static() || shape.rank() != 1 || shape[0].size() % 2 != 0)
    return unsupported("its bias is no vector of an even size that is known");
  const int64_t half = shape[0].size() / 2;
  NEREID_TRY(const ValueId y, node.emit("add", {node.input(0), node.input(1)}));
  NEREID_TRY(const std::vector<ValueId> parts,
             node.emit_all("split", {y}, {{"sizes", std::vector<int64_t>{half, half}}}, 2));
  NEREID_TRY(const ValueId gate, node.emit("gelu", {parts[1]}));
  return node.lower("mul", {parts[0], gate});
}

}  // namespace nereid::import::onnx
