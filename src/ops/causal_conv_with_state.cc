// SPDX-License-Identifier: Apache-2.0
// causal_conv_with_state: each channel convolved with its own kernel over present and past only; the last inputs are
// kept for the next call.
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kWeight, kBias, kPast };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "weight"}, {.name = "bias", .optional = true}, {.name = "past_state", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "present_state"}};
constexpr AttrSpec kAttrs[] = {
    {"activation", AttrSpec::Kind::kString, "none", "applied at the end: none, silu or swish"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kX, kWeight, kBias, kPast}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, i == kBias ? 1 : 3));
    if (i != kX) NEREID_RETURN_IF_ERROR(rule.agree(kX, 1, i, i == kPast ? 1 : 0));
  }
  const std::string& activation = ctx.attrs.text("activation");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return invalid_argument("the activation is '{}' and should be none, silu or swish", activation);
  NEREID_RETURN_IF_ERROR(rule.has_size(kWeight, 1, 1, "each channel has its own kernel"));
  Dim kept = Dim::unknown();
  if (const Dim& size = rule.dim(kWeight, 2); size.is_static()) {
    if (size.size() < 1) return invalid_argument("{} has kernels without elements", rule.describe(kWeight));
    kept = Dim(size.size() - 1);
  }
  if (rule.has(kPast)) {
    NEREID_RETURN_IF_ERROR(rule.agree(kX, 0, kPast, 0));
    if (!merge(rule.dim(kPast, 2), kept))
      return invalid_argument("{} should have {} steps, one less than the kernels", rule.describe(kPast),
                              kept.to_string());
  }
  return std::vector<TensorType>{rule.type(kX), {rule.type(kX).dtype, {rule.dim(kX, 0), rule.dim(kX, 1), kept}}};
}

Status evaluate(const EvalContext& ctx) {
  const int64_t rows = ctx.inputs[kX].sizes[0] * ctx.inputs[kX].sizes[1];
  const int64_t channels = ctx.inputs[kX].sizes[1];
  const int64_t steps = ctx.inputs[kX].sizes[2];
  const int64_t size = ctx.inputs[kWeight].sizes[2];
  const int64_t kept = size - 1;
  const Elements<double> x = load<double>(ctx.inputs[kX]);
  const Elements<double> weight = load<double>(ctx.inputs[kWeight]);
  Elements<double> bias(channels), past(rows * kept);
  if (ctx.inputs[kBias].data != nullptr) bias = load<double>(ctx.inputs[kBias]);
  if (ctx.inputs[kPast].data != nullptr) past = load<double>(ctx.inputs[kPast]);
  const bool silu = ctx.attrs.text("activation") != "none";
  Elements<double> y(x.size()), present(rows * kept);
  for (int64_t row = 0; row < rows; ++row) {
    // Step t of what came before and now: the past has the first `kept` steps.
    const auto at = [&](int64_t t) { return t < kept ? past[row * kept + t] : x[row * steps + t - kept]; };
    for (int64_t t = 0; t < steps; ++t) {
      double sum = bias[row % channels];
      for (int64_t i = 0; i < size; ++i) sum += weight[row % channels * size + i] * at(t + i);
      y[row * steps + t] = silu ? sum / (1 + std::exp(-sum)) : sum;
    }
    for (int64_t i = 0; i < kept; ++i) present[row * kept + i] = at(steps + i);
  }
  NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[1], present));
  return store<double>(ctx.outputs[0], y);
}

}  // namespace

extern constexpr OpDef kCausalConvWithState = {
    .name = "causal_conv_with_state",
    .summary = "y[t] = bias + sum over i of weight[i] * x[t - size + 1 + i], and the last size - 1 of x",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<8>};

}  // namespace nereid::ops
