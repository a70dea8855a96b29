// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedGemm and GemmFastGelu: a product of matrices with an activation.
#include "import/onnx/ops/fused_activation.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_fused_gemm(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(const double alpha, node.real("alpha", 1.0));
  NEREID_TRY(const double beta, node.real("beta", 1.0));
  NEREID_TRY(const int64_t trans_a, node.integer("transA", 0));
  NEREID_TRY(const int64_t trans_b, node.integer("transB", 0));
  NEREID_TRY(const ValueId y,
             node.emit("gemm", node.inputs(),
                       {{"alpha", alpha}, {"beta", beta}, {"transA", trans_a != 0}, {"transB", trans_b != 0}}));
  NEREID_TRY(const std::string name, node.text("activation", ""));
  std::vector<double> params;
  for (const char* param : {"activation_alpha", "activation_beta"}) {
    if (!node.has_attr(param)) break;
    NEREID_TRY(const double value, node.real(param));
    params.push_back(value);
  }
  return lower_activation(node, y, name, params);
}

Status import_gemm_fast_gelu(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(ValueId y, node.emit("matmul", {node.input(0), node.input(1)}));
  if (node.has_input(2)) {
    NEREID_TRY(y, node.emit("add", {y, node.input(2)}));
  }
  return node.lower("gelu_tanh", {y});
}

}  // namespace nereid::import::onnx
