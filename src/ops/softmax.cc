// SPDX-License-Identifier: Apache-2.0
// softmax, log_softmax and hardmax along one dimension; the largest element is subtracted first so that no exponential
// overflows.
#include <algorithm>
#include <cmath>

#include "ops/elements.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"axis", AttrSpec::Kind::kInt, "-1", "the dimension along which results sum to 1"}};

enum class Kind { kHard, kLog, kPlain };

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_axis(0, ctx.attrs.integer("axis")));
  return std::vector<TensorType>{rule.type(0)};
}

// One row of `n` elements `step` apart, in place.
void apply(Kind kind, double* x, int64_t n, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (x[i * step] > x[best * step]) best = i;
  const double largest = n > 0 ? x[best * step] : 0;
  if (kind == Kind::kHard) {
    for (int64_t i = 0; i < n; ++i) x[i * step] = i == best;
    return;
  }
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i * step] - largest);
  for (int64_t i = 0; i < n; ++i) {
    const double shifted = x[i * step] - largest;
    x[i * step] = kind == Kind::kLog ? shifted - std::log(sum) : std::exp(shifted) / sum;
  }
}

template <Kind K>
Status evaluate(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[0]);
  const AxisSteps steps = axis_steps(ctx.inputs[0].sizes, ctx.attrs.integer("axis"));
  for (int64_t outer = 0; outer < steps.outer; ++outer)
    for (int64_t inner = 0; inner < steps.inner; ++inner)
      apply(K, x.data() + outer * steps.size * steps.inner + inner, steps.size, steps.inner);
  return store<double>(ctx.outputs[0], x);
}

template <Kind K, int Flops>
constexpr OpDef along_axis(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = kAttrs,
          .infer = infer,
          .evaluate = evaluate<K>,
          .cost = cost_per_element<Flops>};
}

}  // namespace

extern constexpr OpDef kHardmax =
    along_axis<Kind::kHard, 1>("hardmax", "y = 1 for the first largest element along the axis, 0 for others");
extern constexpr OpDef kLogSoftmax =
    along_axis<Kind::kLog, 11>("log_softmax", "y = x - logarithm of the sum of e^x along the axis");
extern constexpr OpDef kSoftmax = along_axis<Kind::kPlain, 11>("softmax", "y = e^x / sum of e^x along the axis");

}  // namespace nereid::ops
