// SPDX-License-Identifier: Apache-2.0
// batch_normalization: channels shifted and scaled by given statistics; batch_normalization_training: by their own,
// which also move the running ones (Ioffe, Szegedy 2015). Channels are dimension 1; a vector is one channel.
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kScale, kBias, kMean, kVar };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "scale"}, {.name = "bias"}, {.name = "mean"}, {.name = "var"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr ArgSpec kTrainingOutputs[] = {
    {.name = "y"}, {.name = "running_mean"}, {.name = "running_var"}, {.name = "batch_mean"}, {.name = "batch_var"}};
constexpr AttrSpec kAttrs[] = {{"epsilon", AttrSpec::Kind::kFloat, "1e-05", "added to the variance"}};
constexpr AttrSpec kTrainingAttrs[] = {
    {"epsilon", AttrSpec::Kind::kFloat, "1e-05", "added to the variance"},
    {"momentum", AttrSpec::Kind::kFloat, "0.9", "how much of the running statistics stays"}};

Status check(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  for (size_t i : {kX, kScale, kBias, kMean, kVar}) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    if (i == kX) continue;
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 1));
    if (rule.rank(kX) > 1)
      NEREID_RETURN_IF_ERROR(rule.agree(kX, 1, i, 0));
    else
      NEREID_RETURN_IF_ERROR(rule.has_size(i, 0, 1, "x is a vector and thus one channel"));
  }
  return Status::ok();
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check(ctx));
  return std::vector<TensorType>{*ctx.inputs[kX]};
}

Result<std::vector<TensorType>> infer_training(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check(ctx));
  const TensorType& mean = *ctx.inputs[kMean];
  const TensorType& var = *ctx.inputs[kVar];
  return std::vector<TensorType>{*ctx.inputs[kX], mean, var, mean, var};
}

DType dtype_of_training(const InferContext& ctx, size_t output) {
  const TensorType* type = ctx.inputs[output == 0 ? kX : kMean];
  return type != nullptr ? type->dtype : DType::f32;
}

AxisSteps channels_of(const ConstTensorView& x) {
  return x.rank() > 1 ? axis_steps(x.sizes, 1) : AxisSteps{.outer = x.sizes[0], .size = 1, .inner = 1};
}

Status normalize(const EvalContext& ctx, const Elements<double>& mean, const Elements<double>& var) {
  const AxisSteps steps = channels_of(ctx.inputs[kX]);
  const Elements<double> scale = load<double>(ctx.inputs[kScale]);
  const Elements<double> bias = load<double>(ctx.inputs[kBias]);
  Elements<double> x = load<double>(ctx.inputs[kX]);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t c = i / steps.inner % steps.size;
    x[i] = (x[i] - mean[c]) / std::sqrt(var[c] + ctx.attrs.real("epsilon")) * scale[c] + bias[c];
  }
  return store<double>(ctx.outputs[0], x);
}

Status evaluate(const EvalContext& ctx) {
  return normalize(ctx, load<double>(ctx.inputs[kMean]), load<double>(ctx.inputs[kVar]));
}

Status evaluate_training(const EvalContext& ctx) {
  const AxisSteps steps = channels_of(ctx.inputs[kX]);
  const Elements<double> x = load<double>(ctx.inputs[kX]);
  Elements<double> mean(steps.size), var(steps.size);
  const double count = static_cast<double>(steps.outer * steps.inner);
  for (int64_t i = 0; i < x.size(); ++i) mean[i / steps.inner % steps.size] += x[i] / count;
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t c = i / steps.inner % steps.size;
    var[c] += (x[i] - mean[c]) * (x[i] - mean[c]) / count;
  }
  NEREID_RETURN_IF_ERROR(normalize(ctx, mean, var));
  NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[3], mean));
  NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[4], var));
  const double momentum = ctx.attrs.real("momentum");
  const Elements<double> old_mean = load<double>(ctx.inputs[kMean]);
  const Elements<double> old_var = load<double>(ctx.inputs[kVar]);
  for (int64_t c = 0; c < steps.size; ++c) {
    mean[c] = old_mean[c] * momentum + mean[c] * (1 - momentum);
    var[c] = old_var[c] * momentum + var[c] * (1 - momentum);
  }
  NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[1], mean));
  return store<double>(ctx.outputs[2], var);
}

}  // namespace

extern constexpr OpDef kBatchNormalization = {
    .name = "batch_normalization",
    .summary = "y = (x - mean) / sqrt(var + epsilon) * scale + bias, a channel each",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<4>};

extern constexpr OpDef kBatchNormalizationTraining = {
    .name = "batch_normalization_training",
    .summary = "batch_normalization by the batch's own statistics, and the running statistics after it",
    .inputs = kInputs,
    .outputs = kTrainingOutputs,
    .attrs = kTrainingAttrs,
    .infer = infer_training,
    .evaluate = evaluate_training,
    .cost = cost_per_element<8>,
    .dtype_of = dtype_of_training};

}  // namespace nereid::ops
