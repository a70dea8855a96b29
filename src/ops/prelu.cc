// SPDX-License-Identifier: Apache-2.0
// prelu: a slope for negative numbers, given by a tensor that broadcasts to the input.
#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kSlope };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "slope"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_number(rule, kX));
  NEREID_RETURN_IF_ERROR(one_dtype(rule, 0, 2));
  const auto both = broadcast(rule.shape(kX), rule.shape(kSlope));
  bool fits = both && both->rank() == rule.rank(kX);
  for (int d = 0; fits && d < rule.rank(kX); ++d) fits = merge((*both)[d], rule.dim(kX, d)).has_value();
  if (!fits) return invalid_argument("{} does not broadcast to {}", rule.describe(kSlope), rule.describe(kX));
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  return with_wide(ctx.inputs[kX].dtype, [&]<typename T>() {
    return zip<T, T>(ctx, [](T x, T slope) { return x < T(0) ? times(x, slope) : x; });
  });
}

}  // namespace

extern constexpr OpDef kPrelu = {.name = "prelu",
                                 .summary = "y = slope x below 0, else x",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = {},
                                 .infer = infer,
                                 .evaluate = evaluate,
                                 .cost = cost_per_element<2>};

}  // namespace nereid::ops
