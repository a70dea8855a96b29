// SPDX-License-Identifier: Apache-2.0
// scale and softcap: elementwise ops with one number.
#include <cmath>

#include "ops/numeric.h"
#include "ops/op_list.h"
#include "ops/shape_rule.h"

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
  NEREID_TRY(auto x, read_floats(ctx.inputs[0]));
  const double factor = ctx.attrs.real("factor");
  for (float& v : x) v = static_cast<float>(v * factor);
  write_floats(ctx.outputs[0], 0, x);
  return Status::ok();
}

Status evaluate_softcap(const EvalContext& ctx) {
  NEREID_TRY(auto x, read_floats(ctx.inputs[0]));
  const double cap = ctx.attrs.real("cap");
  for (float& v : x) v = static_cast<float>(cap * std::tanh(v / cap));
  write_floats(ctx.outputs[0], 0, x);
  return Status::ok();
}

}  // namespace

constexpr OpDef kScale = {.name = "scale",
                          .summary = "y = factor * x",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attrs = kScaleAttrs,
                          .infer = infer,
                          .evaluate = evaluate_scale,
                          .cost = cost_per_element<1>};

constexpr OpDef kSoftcap = {.name = "softcap",
                            .summary = "y = cap * tanh(x / cap)",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attrs = kSoftcapAttrs,
                            .infer = infer_softcap,
                            .evaluate = evaluate_softcap,
                            .cost = cost_per_element<12>};

}  // namespace nereid::ops
