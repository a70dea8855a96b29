// SPDX-License-Identifier: Apache-2.0
// Gemm: before opset 7 an attribute said whether c broadcasts; it does so as numpy has it in any case.
#include "import/onnx/ops/gemm_attrs.h"

namespace nereid::import::onnx {

Result<ops::Attrs> gemm_attrs(const NodeContext& node) {
  NEREID_TRY(const double alpha, node.real("alpha", 1.0));
  NEREID_TRY(const double beta, node.real("beta", 1.0));
  NEREID_TRY(const int64_t trans_a, node.integer("transA", 0));
  NEREID_TRY(const int64_t trans_b, node.integer("transB", 0));
  return ops::Attrs{{"alpha", alpha}, {"beta", beta}, {"transA", trans_a != 0}, {"transB", trans_b != 0}};
}

Status import_gemm(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(ops::Attrs attrs, gemm_attrs(node));
  return node.lower("gemm", node.inputs(), std::move(attrs));
}

}  // namespace nereid::import::onnx
