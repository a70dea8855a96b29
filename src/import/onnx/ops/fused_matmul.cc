// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedMatMul, TransposeMatMul: a product of matrices that are transposed first, times a number.
#include <algorithm>

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

// `batch`: the first dimension belongs before the last (transBatch*); `matrix`: the last two change places after that.
Result<ValueId> transposed(NodeContext& node, ValueId x, bool batch, bool matrix) {
  if (!batch && !matrix) return x;
  const Shape& shape = node.type(x).shape;
  if (!shape.is_ranked()) return unsupported("how many dimensions its inputs have is not known");
  const int rank = shape.rank();
  if (rank < 2) return x;  // a vector has no transpose
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  if (batch) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (matrix) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return node.emit("transpose", {x}, {{"permutation", order}});
}

}  // namespace

Status import_fused_matmul(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  NEREID_TRY(const double alpha, node.real("alpha", 1.0));
  ValueId inputs[2];
  for (size_t i : {0, 1}) {
    NEREID_TRY(const int64_t batch, node.integer(i == 0 ? "transBatchA" : "transBatchB", 0));
    NEREID_TRY(const int64_t matrix, node.integer(i == 0 ? "transA" : "transB", 0));
    NEREID_TRY(inputs[i], transposed(node, node.input(i), batch != 0, matrix != 0));
  }
  if (alpha == 1.0) return node.lower("matmul", {inputs[0], inputs[1]});
  NEREID_TRY(const ValueId y, node.emit("matmul", {inputs[0], inputs[1]}));
  return node.lower("scale", {y}, {{"factor", alpha}});
}

}  // namespace nereid::import::onnx
