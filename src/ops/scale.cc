// SPDX-License-Identifier: Apache-2.0
// scale and softcap: elementwise ops with one number.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/op.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kScaleAttrs[] = {{"factor", AttrSpec::Kind::kFloat, "", "multiplies every element"}};
constexpr AttrSpec kSoftcapAttrs[] = {{"cap", AttrSpec::Kind::kFloat, "", "the largest magnitude a result can have"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  return std::vector<TensorType>{rule.type(0)};
}

Result<std::vector<TensorType>> infer_softcap(const InferContext& ctx) {
  if (!(ctx.attrs.real("cap") > 0)) return invalid_argument("cap is {} and should be positive", ctx.attrs.real("cap"));
  return infer(ctx);
}

Status evaluate_scale(const EvalContext& ctx) {
  return map<double, double>(ctx.inputs[0], ctx.outputs[0],
                             [factor = ctx.attrs.real("factor")](double v) { return v * factor; });
}

Status evaluate_softcap(const EvalContext& ctx) {
  return map<double, double>(ctx.inputs[0], ctx.outputs[0],
                             [cap = ctx.attrs.real("cap")](double v) { return cap * std::tanh(v / cap); });
}

}  // namespace

extern constexpr OpDef kScale = {.name = "scale",
                                 .summary = "y = factor * x",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = kScaleAttrs,
                                 .infer = infer,
                                 .evaluate = evaluate_scale,
                                 .cost = cost_per_element<1>};

extern constexpr OpDef kSoftcap = {.name = "softcap",
                                   .summary = "y = cap * tanh(x / cap)",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kSoftcapAttrs,
                                   .infer = infer_softcap,
                                   .evaluate = evaluate_softcap,
                                   .cost = cost_per_element<12>};

}  // namespace nereid::ops
