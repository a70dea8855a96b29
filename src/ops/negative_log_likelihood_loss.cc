// SPDX-License-Identifier: Apache-2.0
// negative_log_likelihood_loss: minus the log-probability of the class that each sample belongs to.
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kTarget, kWeight };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "target"}, {.name = "weight", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "loss"}};
constexpr AttrSpec kAttrs[] = {
    {"ignore_index", AttrSpec::Kind::kInts, "[]", "a class whose samples do not count; absent: none"},
    {"reduction", AttrSpec::Kind::kString, "mean", "mean (by weight), sum, or none: one loss a sample"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kTarget));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 2));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kTarget, rule.rank(kX) - 1));
  std::vector<Dim> dims = rule.shape(kX).dims();
  dims.erase(dims.begin() + 1);
  for (int d = 0; d < rule.rank(kTarget); ++d) NEREID_RETURN_IF_ERROR(rule.agree(kX, d == 0 ? 0 : d + 1, kTarget, d));
  if (rule.has(kWeight)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kWeight));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kWeight, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kX, 1, kWeight, 0));
  }
  const std::string& reduction = ctx.attrs.text("reduction");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return invalid_argument("the reduction is '{}' and should be mean, sum or none", reduction);
  return std::vector<TensorType>{{rule.type(kX).dtype, reduction == "none" ? Shape(std::move(dims)) : Shape()}};
}

Status evaluate(const EvalContext& ctx) {
  const Elements<double> x = load<double>(ctx.inputs[kX]);
  const Elements<int64_t> target = load<int64_t>(ctx.inputs[kTarget]);
  const AxisSteps steps = axis_steps(ctx.inputs[kX].sizes, 1);
  Elements<double> weight(steps.size, 1);
  if (ctx.inputs[kWeight].data != nullptr) weight = load<double>(ctx.inputs[kWeight]);
  const std::vector<int64_t>& ignored = ctx.attrs.integers("ignore_index");
  Elements<double> loss(target.size());
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < target.size(); ++i) {
    const int64_t c = target[i];
    if (!ignored.empty() && c == ignored[0]) continue;
    if (c < 0 || c >= steps.size) return invalid_argument("target {} is class {} of {}", i, c, steps.size);
    loss[i] = -x[(i / steps.inner * steps.size + c) * steps.inner + i % steps.inner] * weight[c];
    sum += loss[i];
    weights += weight[c];
  }
  const std::string& reduction = ctx.attrs.text("reduction");
  if (reduction == "none") return store<double>(ctx.outputs[0], loss);
  const double result = reduction == "sum" ? sum : sum / weights;
  return store<double>(ctx.outputs[0], std::span<const double>(&result, 1));
}

}  // namespace

extern constexpr OpDef kNegativeLogLikelihoodLoss = {
    .name = "negative_log_likelihood_loss",
    .summary = "loss = -x[target] * weight[target], averaged or summed over samples",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate};

}  // namespace nereid::ops
