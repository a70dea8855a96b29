// SPDX-License-Identifier: Apache-2.0
// softmax: exponentials along one dimension, scaled to sum 1; the largest is subtracted first so that none overflows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/numeric.h"
#include "ops/op_list.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"axis", AttrSpec::Kind::kInt, "-1", "the dimension along which results sum to 1"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_axis(0, ctx.attrs.integer("axis")));
  return std::vector<TensorType>{rule.type(0)};
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(auto x, read_floats(ctx.inputs[0]));
  const std::vector<int64_t>& sizes = ctx.inputs[0].sizes;
  const AxisSteps steps = axis_steps(sizes, ctx.attrs.integer("axis"));
  for (int64_t outer = 0; outer < steps.outer; ++outer) {
    for (int64_t inner = 0; inner < steps.inner; ++inner) {
      float* first = x.data() + outer * steps.size * steps.inner + inner;
      auto at = [&](int64_t i) -> float& { return first[i * steps.inner]; };
      float largest = -std::numeric_limits<float>::infinity();
      for (int64_t i = 0; i < steps.size; ++i) largest = std::max(largest, at(i));
      double sum = 0;
      for (int64_t i = 0; i < steps.size; ++i) sum += std::exp(static_cast<double>(at(i)) - largest);
      for (int64_t i = 0; i < steps.size; ++i)
        at(i) = static_cast<float>(std::exp(static_cast<double>(at(i)) - largest) / sum);
    }
  }
  write_floats(ctx.outputs[0], 0, x);
  return Status::ok();
}

}  // namespace

constexpr OpDef kSoftmax = {.name = "softmax",
                            .summary = "y = e^x / sum of e^x along the axis",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attrs = kAttrs,
                            .infer = infer,
                            .evaluate = evaluate,
                            .cost = cost_per_element<11>};

}  // namespace nereid::ops
