// SPDX-License-Identifier: Apache-2.0
// lrn: elements divided by a power of the sum of squares of their neighbours in channels (Krizhevsky et al. 2012).
#include <algorithm>
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"alpha", AttrSpec::Kind::kFloat, "0.0001", "factor of the mean square"},
                               {"beta", AttrSpec::Kind::kFloat, "0.75", "the power"},
                               {"bias", AttrSpec::Kind::kFloat, "1.0", "added before the power"},
                               {"size", AttrSpec::Kind::kInt, "", "channels in a neighbourhood"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(0, 2));
  if (ctx.attrs.integer("size") < 1)
    return invalid_argument("size is {} and should be positive", ctx.attrs.integer("size"));
  return std::vector<TensorType>{rule.type(0)};
}

Status evaluate(const EvalContext& ctx) {
  const Elements<double> x = load<double>(ctx.inputs[0]);
  Elements<double> y(x.size());
  const AxisSteps steps = axis_steps(ctx.inputs[0].sizes, 1);
  const int64_t size = ctx.attrs.integer("size");
  const int64_t before = std::min((size - 1) / 2, steps.size);
  const int64_t after = std::min(size - 1 - (size - 1) / 2, steps.size);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t c = i / steps.inner % steps.size;
    double sum = 0;
    for (int64_t j = std::max<int64_t>(0, c - before); j <= std::min(steps.size - 1, c + after); ++j) {
      const double v = x[i + (j - c) * steps.inner];
      sum += v * v;
    }
    y[i] = x[i] / std::pow(ctx.attrs.real("bias") + ctx.attrs.real("alpha") / static_cast<double>(size) * sum,
                           ctx.attrs.real("beta"));
  }
  return store<double>(ctx.outputs[0], y);
}

}  // namespace

extern constexpr OpDef kLrn = {
    .name = "lrn",
    .summary = "y = x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<30>};

}  // namespace nereid::ops
