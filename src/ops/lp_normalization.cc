// SPDX-License-Identifier: Apache-2.0
// lp_normalization: rows scaled to length 1 in the 1- or 2-norm; rows of zeros stay.
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "-1", "the dimension along which results have length 1"},
    {"p", AttrSpec::Kind::kInt, "2", "1: length is the sum of sizes; 2: the root of the sum of squares"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_axis(0, ctx.attrs.integer("axis")));
  const int64_t p = ctx.attrs.integer("p");
  if (p != 1 && p != 2) return invalid_argument("p is {} and should be 1 or 2", p);
  return std::vector<TensorType>{rule.type(0)};
}

Status evaluate(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[0]);
  const AxisSteps steps = axis_steps(ctx.inputs[0].sizes, ctx.attrs.integer("axis"));
  const bool squares = ctx.attrs.integer("p") == 2;
  for (int64_t outer = 0; outer < steps.outer; ++outer) {
    for (int64_t inner = 0; inner < steps.inner; ++inner) {
      double* row = x.data() + outer * steps.size * steps.inner + inner;
      double length = 0;
      for (int64_t i = 0; i < steps.size; ++i) {
        const double v = row[i * steps.inner];
        length += squares ? v * v : std::fabs(v);
      }
      if (squares) length = std::sqrt(length);
      for (int64_t i = 0; i < steps.size; ++i) row[i * steps.inner] = length == 0 ? 0 : row[i * steps.inner] / length;
    }
  }
  return store<double>(ctx.outputs[0], x);
}

}  // namespace

extern constexpr OpDef kLpNormalization = {.name = "lp_normalization",
                                           .summary = "y = x / length of x along the axis",
                                           .inputs = kInputs,
                                           .outputs = kOutputs,
                                           .attrs = kAttrs,
                                           .infer = infer,
                                           .evaluate = evaluate,
                                           .cost = cost_per_element<3>};

}  // namespace nereid::ops
