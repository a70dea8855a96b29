// SPDX-License-Identifier: Apache-2.0
// What dense and conv_last do to their sums.
#include <array>

#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

struct ActName {
  std::string_view name;
  kernels::Act act;
};
constexpr std::array kActs = {ActName{"none", kernels::Act::kNone},
                              ActName{"relu", kernels::Act::kRelu},
                              ActName{"clip", kernels::Act::kClip},
                              ActName{"leaky_relu", kernels::Act::kLeakyRelu},
                              ActName{"sigmoid", kernels::Act::kSigmoid},
                              ActName{"tanh", kernels::Act::kTanh},
                              ActName{"silu", kernels::Act::kSilu},
                              ActName{"gelu", kernels::Act::kGelu},
                              ActName{"gelu_tanh", kernels::Act::kGeluTanh},
                              ActName{"hard_sigmoid", kernels::Act::kHardSigmoid},
                              ActName{"hard_swish", kernels::Act::kHardSwish},
                              ActName{"elu", kernels::Act::kElu},
                              ActName{"mish", kernels::Act::kMish}};

}  // namespace

Result<kernels::Act> act_of(std::string_view name) {
  for (const ActName& row : kActs)
    if (row.name == name) return row.act;
  return unsupported("there is no kernel for the activation '{}'", name);
}

bool scales_result(const graph::Node& node) {
  return node.attrs.real("scale") != 1 || node.attrs.real("shift") != 0;
}

Status bind_epilogue(NetBinder& binder, const graph::Node& node, size_t bias_input, int64_t columns,
                     kernels::Epilogue& epilogue) {
  NEREID_TRY(epilogue.act, act_of(node.attrs.text("activation")));
  epilogue.alpha = static_cast<float>(node.attrs.real("alpha"));
  epilogue.beta = static_cast<float>(node.attrs.real("beta"));
  epilogue.scale = static_cast<float>(node.attrs.real("scale"));
  epilogue.shift = static_cast<float>(node.attrs.real("shift"));
  epilogue.residual_last = node.attrs.boolean("residual_last");
  const graph::ValueId bias = node.inputs[bias_input], residual = node.inputs[bias_input + 1];
  if (bias.valid()) {
    if (binder.type(bias).shape.elements() != columns) return unsupported("the bias is no vector of {}", columns);
    binder.point(bias, &epilogue.bias);
  }
  if (residual.valid()) {
    if (binder.type(residual) != binder.type(node.outputs[0])) return unsupported("the residual is broadcast");
    binder.point(residual, &epilogue.residual);
    epilogue.residual_stride = columns;
  }
  return Status::ok();
}

}  // namespace nereid::runtime
