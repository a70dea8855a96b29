// SPDX-License-Identifier: Apache-2.0
// com.microsoft CDist: distances between the rows of two matrices, summed directly (no cancellation for near rows).
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_cdist(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  NEREID_TRY(const std::string metric, node.text("metric", "sqeuclidean"));
  if (metric != "sqeuclidean" && metric != "euclidean")
    return unsupported("its metric '{}' is none of sqeuclidean and euclidean", metric);
  NEREID_TRY(const ValueId a, node.emit("unsqueeze", {node.input(0), node.constant_integers({1})}));
  NEREID_TRY(const ValueId b, node.emit("unsqueeze", {node.input(1), node.constant_integers({0})}));
  NEREID_TRY(const ValueId apart, node.emit("sub", {a, b}));
  const ValueId last = node.constant_integers({2});
  const std::string_view op = metric == "euclidean" ? "reduce_l2" : "reduce_sum_square";
  return node.lower(op, {apart, last}, {{"keepdims", false}});
}

}  // namespace nereid::import::onnx
