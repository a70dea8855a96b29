// SPDX-License-Identifier: Apache-2.0
// is_nan and is_inf: which elements of a float tensor are no numbers, or infinite.
#include <cmath>

#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kInfAttrs[] = {
    {"detect_negative", AttrSpec::Kind::kBool, "true", "whether minus infinity counts"},
    {"detect_positive", AttrSpec::Kind::kBool, "true", "whether plus infinity counts"},
};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (!is_float(rule.type(0).dtype)) return invalid_argument("{} should be a float type", rule.describe(0));
  return std::vector<TensorType>{{DType::boolean, rule.shape(0)}};
}

DType truth(const InferContext&, size_t) {
  return DType::boolean;
}

Status evaluate_nan(const EvalContext& ctx) {
  return map<double, bool>(ctx.inputs[0], ctx.outputs[0], [](double v) { return std::isnan(v); });
}

Status evaluate_inf(const EvalContext& ctx) {
  const bool negative = ctx.attrs.boolean("detect_negative");
  const bool positive = ctx.attrs.boolean("detect_positive");
  return map<double, bool>(ctx.inputs[0], ctx.outputs[0],
                           [=](double v) { return std::isinf(v) && (v < 0 ? negative : positive); });
}

}  // namespace

extern constexpr OpDef kIsInf = {.name = "is_inf",
                                 .summary = "whether x is infinite",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = kInfAttrs,
                                 .infer = infer,
                                 .evaluate = evaluate_inf,
                                 .cost = cost_per_element<1>,
                                 .dtype_of = truth};

extern constexpr OpDef kIsNan = {.name = "is_nan",
                                 .summary = "whether x is not a number",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = {},
                                 .infer = infer,
                                 .evaluate = evaluate_nan,
                                 .cost = cost_per_element<1>,
                                 .dtype_of = truth};

}  // namespace nereid::ops
