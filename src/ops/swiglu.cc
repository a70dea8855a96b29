// SPDX-License-Identifier: Apache-2.0
// swiglu: a gate through swish scales a linear input of the same shape.
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"alpha", AttrSpec::Kind::kFloat, "1.0", "factor inside the sigmoid"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.same_type(0, 1));
  return std::vector<TensorType>{rule.type(0)};
}

Status evaluate(const EvalContext& ctx) {
  Elements<double> a = load<double>(ctx.inputs[0]);
  const Elements<double> b = load<double>(ctx.inputs[1]);
  const double alpha = ctx.attrs.real("alpha");
  for (int64_t i = 0; i < a.size(); ++i) a[i] = a[i] / (1 + std::exp(-alpha * a[i])) * b[i];
  return store<double>(ctx.outputs[0], a);
}

}  // namespace

extern constexpr OpDef kSwiglu = {.name = "swiglu",
                                  .summary = "y = a / (1 + e^(-alpha a)) * b",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .evaluate = evaluate,
                                  .cost = cost_per_element<12>};

}  // namespace nereid::ops
