// SPDX-License-Identifier: Apache-2.0
// gated: one half of a pair passes through an activation and scales the other.
#include "ops/activation.h"
#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "gate"}, {.name = "up"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"activation", AttrSpec::Kind::kString, "silu",
                                "what the gate goes through: silu, gelu, gelu_tanh, relu, sigmoid, tanh"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(find_activation(ctx.attrs.text("activation")));
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.same_type(0, 1));
  return std::vector<TensorType>{rule.type(0)};
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const Activation* activation, find_activation(ctx.attrs.text("activation")));
  NEREID_TRY(auto gate, read_floats(ctx.inputs[0]));
  NEREID_TRY(auto up, read_floats(ctx.inputs[1]));
  for (size_t i = 0; i < up.size(); ++i) up[i] = static_cast<float>(activation->function(gate[i]) * up[i]);
  write_floats(ctx.outputs[0], 0, up);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kGated = {.name = "gated",
                                 .summary = "y = activation(gate) * up",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = kAttrs,
                                 .infer = infer,
                                 .evaluate = evaluate,
                                 .cost = cost_per_element<12>};

}  // namespace nereid::ops
