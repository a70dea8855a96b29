// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/ops/fused_activation.h"

namespace nereid::import::onnx {
namespace {

struct Activation {
  std::string_view name, op;
  std::vector<std::pair<const char*, double>> params;  // in the order of activation_params, with their defaults
};

}  // namespace

Status lower_activation(NodeContext& node, ValueId y, std::string_view name, const std::vector<double>& params) {
  if (name == "Clip") {
    if (params.size() != 2)
      return invalid_argument("the activation Clip has {} parameters and should have 2", params.size());
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
