// SPDX-License-Identifier: Apache-2.0
// Tile: how often along each dimension; in opset 1 how often along one.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_tile(NodeContext& node) {
  if (node.version() >= 6) {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
    return node.lower("tile", node.inputs());
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 3));
  const Shape shape = node.type(node.input(0)).shape;
  if (!shape.is_ranked()) return unsupported("the number of dimensions of what it repeats is not known");
  // Once along each dimension, but for the one: both numbers come in the element type of what is repeated.
  const ValueId one = node.constant_integers({1});
  ValueId numbers[2];
  for (size_t i = 0; i < 2; ++i) {
    NEREID_TRY(const ValueId whole, node.emit("cast", {node.input(i + 1)}, {{"dtype", std::string("i64")}}));
    NEREID_TRY(numbers[i], node.emit("reshape_to", {whole, one}));
  }
  const ValueId ones = node.constant_integers(std::vector<int64_t>(static_cast<size_t>(shape.rank()), 1));
  NEREID_TRY(const ValueId repeats, node.emit("scatter_elements", {ones, numbers[1], numbers[0]}));
  return node.lower("tile", {node.input(0), repeats});
}

}  // namespace nereid::import::onnx
