// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedGemm and GemmFastGelu: a product of matrices with an activation.
#include "import/onnx/ops/fused_activation.h"
#include "import/onnx/ops/gemm_attrs.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_fused_gemm(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(ops::Attrs attrs, gemm_attrs(node));
  NEREID_TRY(const ValueId y, node.emit("gemm", node.inputs(), std::move(attrs)));
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
