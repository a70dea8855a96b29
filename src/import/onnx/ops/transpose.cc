// SPDX-License-Identifier: Apache-2.0
// Transpose: without a permutation the dimensions are reversed.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_transpose(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(std::vector<int64_t> permutation, node.integers("perm", std::vector<int64_t>()));
  return node.lower("transpose", {node.input(0)}, {{"permutation", std::move(permutation)}});
}

}  // namespace nereid::import::onnx
