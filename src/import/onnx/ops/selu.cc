// SPDX-License-Identifier: Apache-2.0
// Selu: the defaults had fewer digits before opset 6.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_selu(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  const bool old = node.version() < 6;
  NEREID_TRY(const double alpha, node.real("alpha", old ? 1.6732 : 1.67326319217681884765625));
  NEREID_TRY(const double gamma, node.real("gamma", old ? 1.0507 : 1.05070102214813232421875));
  return node.lower("selu", {node.input(0)}, {{"alpha", alpha}, {"gamma", gamma}});
}

}  // namespace nereid::import::onnx
