// SPDX-License-Identifier: Apache-2.0
// group_normalization (Wu, He 2018) and instance_normalization (Ulyanov, Vedaldi, Lempitsky 2016), which has one
// channel a group.
#include <cmath>

#include "ops/elements.h"
#include "ops/normalization.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kScale, kBias };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "scale"}, {.name = "bias"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kGroupAttrs[] = {
    {"epsilon", AttrSpec::Kind::kFloat, "1e-05", "added to the variance"},
    {"num_groups", AttrSpec::Kind::kInt, "", "groups of channels; divides their number"},
    {"stash_type", AttrSpec::Kind::kInt, "1", "ONNX's number of the type that statistics are meant to be computed in"}};
constexpr AttrSpec kInstanceAttrs[] = {{"epsilon", AttrSpec::Kind::kFloat, "1e-05", "added to the variance"}};

Status check_arguments(const ShapeRule& rule) {
  for (size_t i : {kX, kScale, kBias}) NEREID_RETURN_IF_ERROR(rule.is_activation(i));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 2));
  for (size_t i : {kScale, kBias}) NEREID_RETURN_IF_ERROR(rule.has_rank(i, 1));
  return Status::ok();
}

Result<std::vector<TensorType>> infer_instance(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(check_arguments(rule));
  for (size_t i : {kScale, kBias}) NEREID_RETURN_IF_ERROR(rule.agree(kX, 1, i, 0));
  return std::vector<TensorType>{rule.type(kX)};
}

// Scale and bias have one number a channel, or (as before opset 21) one a group.
Result<std::vector<TensorType>> infer_group(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(check_arguments(rule));
  const int64_t groups = ctx.attrs.integer("num_groups");
  const Dim& channels = rule.dim(kX, 1);
  if (groups < 1 || (channels.is_static() && channels.size() % groups != 0))
    return invalid_argument("{} cannot have its channels in {} groups", rule.describe(kX), groups);
  for (size_t i : {kScale, kBias})
    if (rule.dim(i, 0) != Dim(groups)) NEREID_RETURN_IF_ERROR(rule.agree(kX, 1, i, 0));
  return std::vector<TensorType>{rule.type(kX)};
}

Status normalize(const EvalContext& ctx, int64_t groups) {
  Elements<double> x = load<double>(ctx.inputs[kX]);
  if (x.size() == 0) return Status::ok();
  const Elements<double> scale = load<double>(ctx.inputs[kScale]);
  const Elements<double> bias = load<double>(ctx.inputs[kBias]);
  const AxisSteps steps = axis_steps(ctx.inputs[kX].sizes, 1);
  const int64_t size = steps.size / groups * steps.inner;  // of a group
  for (int64_t first = 0; first < x.size(); first += size) {
    const Moments m = moments(x.data() + first, size);
    const double factor = 1 / std::sqrt(m.variance + ctx.attrs.real("epsilon"));
    for (int64_t i = first; i < first + size; ++i) {
      const int64_t c = i / steps.inner % steps.size;
      x[i] = (x[i] - m.mean) * factor * scale[c * scale.size() / steps.size] + bias[c * bias.size() / steps.size];
    }
  }
  return store<double>(ctx.outputs[0], x);
}

Status evaluate_group(const EvalContext& ctx) {
  return normalize(ctx, ctx.attrs.integer("num_groups"));
}
Status evaluate_instance(const EvalContext& ctx) {
  return normalize(ctx, ctx.inputs[kX].sizes[1]);
}

}  // namespace

extern constexpr OpDef kGroupNormalization = {
    .name = "group_normalization",
    .summary = "y = (x - mean) / sqrt(variance + epsilon) * scale + bias, statistics of each group of channels",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kGroupAttrs,
    .infer = infer_group,
    .evaluate = evaluate_group,
    .cost = cost_per_element<8>};

extern constexpr OpDef kInstanceNormalization = {
    .name = "instance_normalization",
    .summary = "y = (x - mean) / sqrt(variance + epsilon) * scale + bias, statistics of each channel of each sample",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kInstanceAttrs,
    .infer = infer_instance,
    .evaluate = evaluate_instance,
    .cost = cost_per_element<8>};

}  // namespace nereid::ops
