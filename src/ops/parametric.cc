// SPDX-License-Identifier: Apache-2.0
// Activations with parameters: elu, selu, celu, leaky_relu, thresholded_relu, hard_sigmoid, swish; and shrink.
#include <cmath>

#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

using Kind = AttrSpec::Kind;
constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kEluAttrs[] = {{"alpha", Kind::kFloat, "1.0", "minus the limit far below zero"}};
constexpr AttrSpec kSeluAttrs[] = {
    {"alpha", Kind::kFloat, "1.6732631921768188", "minus the limit far below zero over gamma"},
    {"gamma", Kind::kFloat, "1.0507010221481323", "slope above zero"}};
constexpr AttrSpec kCeluAttrs[] = {{"alpha", Kind::kFloat, "1.0", "minus the limit far below zero; not 0"}};
constexpr AttrSpec kLeakyAttrs[] = {{"alpha", Kind::kFloat, "0.01", "slope below zero"}};
constexpr AttrSpec kThresholdAttrs[] = {{"alpha", Kind::kFloat, "1.0", "what an element must exceed"}};
constexpr AttrSpec kHardAttrs[] = {{"alpha", Kind::kFloat, "0.2", "slope at zero"},
                                   {"beta", Kind::kFloat, "0.5", "value at zero"}};
constexpr AttrSpec kSwishAttrs[] = {{"alpha", Kind::kFloat, "1.0", "factor inside the sigmoid"}};
constexpr AttrSpec kShrinkAttrs[] = {{"bias", Kind::kFloat, "0.0", "what is taken off the magnitude"},
                                     {"lambd", Kind::kFloat, "0.5", "magnitude up to which the result is 0"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  return std::vector<TensorType>{rule.type(0)};
}

Result<std::vector<TensorType>> infer_celu(const InferContext& ctx) {
  if (ctx.attrs.real("alpha") == 0) return invalid_argument("alpha is 0 and should not be");
  return infer(ctx);
}

Result<std::vector<TensorType>> infer_shrink(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_number(rule, 0));
  return std::vector<TensorType>{rule.type(0)};
}

template <typename F>
Status each(const EvalContext& ctx, F&& f) {
  return map<double, double>(ctx.inputs[0], ctx.outputs[0], f);
}

Status evaluate_elu(const EvalContext& ctx) {
  return each(ctx, [a = ctx.attrs.real("alpha")](double x) { return x < 0 ? a * std::expm1(x) : x; });
}
Status evaluate_selu(const EvalContext& ctx) {
  return each(ctx, [a = ctx.attrs.real("alpha"), g = ctx.attrs.real("gamma")](double x) {
    return g * (x < 0 ? a * std::expm1(x) : x);
  });
}
Status evaluate_celu(const EvalContext& ctx) {
  return each(ctx, [a = ctx.attrs.real("alpha")](double x) { return x < 0 ? std::fmin(0, a * std::expm1(x / a)) : x; });
}
Status evaluate_leaky_relu(const EvalContext& ctx) {
  return each(ctx, [a = ctx.attrs.real("alpha")](double x) { return x < 0 ? a * x : x; });
}
Status evaluate_thresholded_relu(const EvalContext& ctx) {
  return each(ctx, [a = ctx.attrs.real("alpha")](double x) { return x > a ? x : 0; });
}
Status evaluate_hard_sigmoid(const EvalContext& ctx) {
  return each(ctx, [a = ctx.attrs.real("alpha"), b = ctx.attrs.real("beta")](double x) {
    return larger(0.0, smaller(1.0, a * x + b));
  });
}
Status evaluate_swish(const EvalContext& ctx) {
  return each(ctx, [a = ctx.attrs.real("alpha")](double x) { return x / (1 + std::exp(-a * x)); });
}
// Of integers too: towards zero.
Status evaluate_shrink(const EvalContext& ctx) {
  return each(ctx, [lambda = ctx.attrs.real("lambd"), bias = ctx.attrs.real("bias")](double x) {
    return x < -lambda ? x + bias : x > lambda ? x - bias : 0;
  });
}

constexpr OpDef activation(std::string_view name, std::string_view summary, std::span<const AttrSpec> attrs,
                           Status (*evaluator)(const EvalContext&),
                           Result<std::vector<TensorType>> (*rule)(const InferContext&) = infer) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = rule,
          .evaluate = evaluator,
          .cost = cost_per_element<8>};
}

}  // namespace

extern constexpr OpDef kCelu =
    activation("celu", "y = max(0, x) + min(0, alpha (e^(x / alpha) - 1))", kCeluAttrs, evaluate_celu, infer_celu);
extern constexpr OpDef kElu = activation("elu", "y = alpha (e^x - 1) below 0, else x", kEluAttrs, evaluate_elu);
extern constexpr OpDef kHardSigmoid =
    activation("hard_sigmoid", "y = max(0, min(1, alpha x + beta))", kHardAttrs, evaluate_hard_sigmoid);
extern constexpr OpDef kLeakyRelu =
    activation("leaky_relu", "y = alpha x below 0, else x", kLeakyAttrs, evaluate_leaky_relu);
extern constexpr OpDef kSelu =
    activation("selu", "y = gamma alpha (e^x - 1) below 0, else gamma x", kSeluAttrs, evaluate_selu);
extern constexpr OpDef kShrink = activation("shrink", "y = x - bias above lambd, x + bias below -lambd, else 0",
                                            kShrinkAttrs, evaluate_shrink, infer_shrink);
extern constexpr OpDef kSwish = activation("swish", "y = x / (1 + e^(-alpha x))", kSwishAttrs, evaluate_swish);
extern constexpr OpDef kThresholdedRelu =
    activation("thresholded_relu", "y = x above alpha, else 0", kThresholdAttrs, evaluate_thresholded_relu);

}  // namespace nereid::ops
