// SPDX-License-Identifier: Apache-2.0
// Gelu, exact or by tanh; and the forms of the com.microsoft domain: Gelu, FastGelu, BiasGelu, QuickGelu.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_gelu(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const std::string approximate, node.text("approximate", "none"));
  if (approximate != "none" && approximate != "tanh")
    return invalid_argument("approximate is '{}' and should be none or tanh", approximate);
  return node.lower(approximate == "tanh" ? "gelu_tanh" : "gelu", {node.input(0)});
}

// x and a bias, if there is one.
static Result<ValueId> with_bias(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 2));
  if (!node.has_input(1)) return node.input(0);
  return node.emit("add", {node.input(0), node.input(1)});
}

Status import_fast_gelu(NodeContext& node) {
  NEREID_TRY(const ValueId x, with_bias(node));
  return node.lower("gelu_tanh", {x});
}

Status import_bias_gelu(NodeContext& node) {
  NEREID_TRY(const ValueId x, with_bias(node));
  return node.lower("gelu", {x});
}

Status import_quick_gelu(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const double alpha, node.real("alpha", 1.702));
  return node.lower("swish", {node.input(0)}, {{"alpha", alpha}});
}

}  // namespace nereid::import::onnx
