// SPDX-License-Identifier: Apache-2.0
// rms_norm: rows (or groups of a row, as q/k norms need) scaled to root-mean-square 1, times a weight, plus a residual.
#include <cmath>

#include "ops/normalize.h"
#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {

void rms_normalize(std::span<float> x, std::span<const float> weight, double eps) {
  double sum = 0;
  for (float v : x) sum += static_cast<double>(v) * v;
  const double factor = 1.0 / std::sqrt(sum / static_cast<double>(x.size()) + eps);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(x[i] * factor * (weight.empty() ? 1.0 : static_cast<double>(weight[i])));
}

namespace {

enum : size_t { kX, kWeight, kResidual };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "weight", .optional = true}, {.name = "residual", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"eps", AttrSpec::Kind::kFloat, "1e-05", "added to the mean square"},
    {"group", AttrSpec::Kind::kInt, "0", "elements that are normalised together; 0: the whole row"},
};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  const int64_t group = ctx.attrs.integer("group");
  const Dim& width = rule.dim(kX, -1);
  if (group < 0) return invalid_argument("group is {} and should be 0 or more", group);
  if (group > 0 && width.is_static() && width.size() % group != 0)
    return invalid_argument("{} does not split into groups of {}", rule.describe(kX), group);
  if (rule.has(kWeight)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kWeight));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kWeight, 1));
    NEREID_RETURN_IF_ERROR(group > 0 ? rule.has_size(kWeight, 0, group, "group") : rule.agree(kX, -1, kWeight, 0));
  }
  if (rule.has(kResidual)) NEREID_RETURN_IF_ERROR(rule.same_type(kX, kResidual));
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(auto x, read_floats(ctx.inputs[kX]));
  NEREID_TRY(auto weight, read_floats(ctx.inputs[kWeight]));
  NEREID_TRY(auto residual, read_floats(ctx.inputs[kResidual]));
  const double eps = ctx.attrs.real("eps");
  const int64_t group = ctx.attrs.integer("group");
  const size_t width = static_cast<size_t>(group > 0 ? group : ctx.inputs[kX].row_elements());
  for (size_t first = 0; first < x.size(); first += width)
    rms_normalize(std::span(x).subspan(first, width), weight, eps);
  for (size_t i = 0; i < residual.size(); ++i) x[i] += residual[i];
  write_floats(ctx.outputs[0], 0, x);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kRmsNorm = {
    .name = "rms_norm",
    .summary = "y = x / sqrt(mean(x^2) + eps) * weight + residual, for each row or group of a row",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<4>};

}  // namespace nereid::ops
