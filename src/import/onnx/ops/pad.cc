// SPDX-License-Identifier: Apache-2.0
// Pad: widths and value are inputs from opset 11 on, attributes before.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_pad(NodeContext& node) {
  NEREID_TRY(std::string mode, node.text("mode", "constant"));
  if (node.version() >= 11) {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(2, node.version() >= 18 ? 4 : 3));
    return node.lower("pad", node.inputs(), {{"mode", std::move(mode)}});
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const std::vector<int64_t> pads, node.integers(node.version() == 1 ? "paddings" : "pads"));
  NEREID_TRY(const double value, node.real("value", 0.0));
  const DType dtype = node.type(node.input(0)).dtype;
  if (!is_float(dtype)) return invalid_argument("it pads {} and should pad floats", dtype_name(dtype));
  return node.lower("pad", {node.input(0), node.constant_integers(pads), node.constant_scalar(dtype, value)},
                    {{"mode", std::move(mode)}});
}

}  // namespace nereid::import::onnx
