// SPDX-License-Identifier: Apache-2.0
// mean_variance_normalization: elements shifted and scaled to mean 0 and variance 1 over some dimensions.
#include <cmath>

#include "ops/elements.h"
#include "ops/reduce.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"axes", AttrSpec::Kind::kInts, "[0, 2, 3]", "the dimensions that share statistics"}};
constexpr double kEpsilon = 1e-9;  // added to the standard deviation

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(reduced_dimensions(ctx.attrs.integers("axes"), rule.rank(0), false).with(rule.describe(0)));
  return std::vector<TensorType>{rule.type(0)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& view = ctx.inputs[0];
  NEREID_TRY(const auto reduced, reduced_dimensions(ctx.attrs.integers("axes"), view.rank(), false));
  Elements<double> x = load<double>(view);
  if (x.size() == 0) return Status::ok();
  int64_t groups = 1;
  for (size_t d = 0; d < reduced.size(); ++d)
    if (!reduced[d]) groups *= view.sizes[d];
  const double count = static_cast<double>(x.size() / groups);
  Elements<double> mean(groups), variance(groups);
  const auto each = [&](auto f) {
    ReduceWalk walk(view.sizes, reduced);
    for (int64_t i = 0; i < x.size(); ++i, walk.next()) f(x[i], walk.target());
  };
  each([&](double v, int64_t g) { mean[g] += v / count; });
  each([&](double v, int64_t g) { variance[g] += (v - mean[g]) * (v - mean[g]) / count; });
  each([&](double& v, int64_t g) { v = (v - mean[g]) / (std::sqrt(variance[g]) + kEpsilon); });
  return store<double>(ctx.outputs[0], x);
}

}  // namespace

extern constexpr OpDef kMeanVarianceNormalization = {.name = "mean_variance_normalization",
                                                     .summary = "y = (x - mean) / standard deviation over the axes",
                                                     .inputs = kInputs,
                                                     .outputs = kOutputs,
                                                     .attrs = kAttrs,
                                                     .infer = infer,
                                                     .evaluate = evaluate,
                                                     .cost = cost_per_element<6>};

}  // namespace nereid::ops
