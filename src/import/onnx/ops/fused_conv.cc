// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedConv: a convolution, a summand, an activation.
#include "import/onnx/ops/op_list.h"

namespace nereid::import::onnx {
namespace {

struct Activation {
  std::string_view name, op;
  std::vector<std::pair<const char*, double>> params;  // in the order of activation_params, with their defaults
};

}  // namespace

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
  if (name == "Clip") {
    if (params.size() != 2) return invalid_argument("activation_params has {} numbers, Clip 2", params.size());
    const DType dtype = node.type(y).dtype;
    return node.lower("clip", {y, node.constant_scalar(dtype, params[0]), node.constant_scalar(dtype, params[1])});
  }
  const Activation known[] = {{"Relu", "relu", {}},
                              {"Tanh", "tanh", {}},
                              {"Sigmoid", "sigmoid", {}},
                              {"LeakyRelu", "leaky_relu", {{"alpha", 0.01}}},
                              {"HardSigmoid", "hard_sigmoid", {{"alpha", 0.2}, {"beta", 0.5}}}};
  if (name.empty()) return node.lower("identity", {y});
  for (const Activation& a : known) {
    if (a.name != name) continue;
    ops::Attrs given;
    for (size_t i = 0; i < a.params.size(); ++i)
      given.set(a.params[i].first, i < params.size() ? params[i] : a.params[i].second);
    return node.lower(a.op, {y}, std::move(given));
  }
  return unsupported("its activation '{}' is none of Relu, Tanh, Sigmoid, LeakyRelu, HardSigmoid and Clip", name);
}

}  // namespace nereid::import::onnx
