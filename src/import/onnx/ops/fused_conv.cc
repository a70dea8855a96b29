// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedConv: a convolution, a summand, an activation.
#include "import/onnx/ops/fused_activation.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
Status import_fused_conv(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 4));
  ops::Attrs attrs;
  NEREID_TRY(std::string auto_pad, node.text("auto_pad", "NOTSET"));
  NEREID_TRY(const int64_t group, node.integer("group", 1));
  attrs.set("auto_pad", std::move(auto_pad));
  attrs.set("group", group);
  for (const char* name : {"dilations", "kernel_shape", "pads", "strides"}) {
    NEREID_TRY(std::vector<int64_t> list, node.integers(name, std::vector<int64_t>()));
    attrs.set(name, std::move(list));
  }
  NEREID_TRY(ValueId y, node.emit("conv", {node.input(0), node.input(1), node.input(2)}, std::move(attrs)));
  if (node.has_input(3)) {
    NEREID_TRY(y, node.emit("add", {y, node.input(3)}));
  }
  NEREID_TRY(const std::string name, node.text("activation", ""));
  NEREID_TRY(const std::vector<double> params, node.reals("activation_params", std::vector<double>()));
  return lower_activation(node, y, name, params);
}

}  // namespace nereid::import::onnx
