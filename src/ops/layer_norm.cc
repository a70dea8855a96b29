// SPDX-License-Identifier: Apache-2.0
// layer_norm: rows shifted to mean 0 and scaled to variance 1, times a weight, plus a bias (Ba, Kiros, Hinton 2016).
#include <cmath>

#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kWeight, kBias };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "weight"}, {.name = "bias", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"eps", AttrSpec::Kind::kFloat, "1e-05", "added to the variance"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  for (size_t i : {kWeight, kBias}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kX, -1, i, 0));
  }
  return std::vector<TensorType>{rule.type(kX)};
}

void normalize(std::span<float> x, std::span<const float> weight, std::span<const float> bias, double eps) {
  const double n = static_cast<double>(x.size());
  double mean = 0;
  for (float v : x) mean += v / n;
  double variance = 0;
  for (float v : x) variance += (v - mean) * (v - mean) / n;
  const double factor = 1.0 / std::sqrt(variance + eps);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>((x[i] - mean) * factor * weight[i] + (bias.empty() ? 0.0 : static_cast<double>(bias[i])));
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(auto x, read_floats(ctx.inputs[kX]));
  NEREID_TRY(auto weight, read_floats(ctx.inputs[kWeight]));
  NEREID_TRY(auto bias, read_floats(ctx.inputs[kBias]));
  const size_t width = static_cast<size_t>(ctx.inputs[kX].row_elements());
  for (size_t first = 0; first < x.size(); first += width)
    normalize(std::span(x).subspan(first, width), weight, bias, ctx.attrs.real("eps"));
  write_floats(ctx.outputs[0], 0, x);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kLayerNorm = {
    .name = "layer_norm",
    .summary = "y = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias, for each row",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<7>};

}  // namespace nereid::ops
