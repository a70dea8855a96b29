// SPDX-License-Identifier: Apache-2.0
// clip: numbers brought into a range.
#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kMin, kMax };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "min", .optional = true}, {.name = "max", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_number(rule, kX));
  for (size_t i : {kMin, kMax}) {
    if (!rule.has(i)) continue;
    if (rule.type(i).dtype != rule.type(kX).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(kX), rule.describe(i));
    for (const Dim& d : rule.shape(i).dims())
      if (!merge(d, Dim(1))) return invalid_argument("{} should be one number", rule.describe(i));
  }
  return std::vector<TensorType>{rule.type(kX)};
}

// The upper bound wins where the two cross.
Status evaluate(const EvalContext& ctx) {
  return with_wide(ctx.inputs[kX].dtype, [&]<typename T>() {
    Elements<T> x = load<T>(ctx.inputs[kX]);
    if (ctx.inputs[kMin].data != nullptr) {
      const T least = load<T>(ctx.inputs[kMin])[0];
      for (T& v : x) v = larger(v, least);
    }
    if (ctx.inputs[kMax].data != nullptr) {
      const T most = load<T>(ctx.inputs[kMax])[0];
      for (T& v : x) v = smaller(v, most);
    }
    return store<T>(ctx.outputs[0], x);
  });
}

}  // namespace

extern constexpr OpDef kClip = {.name = "clip",
                                .summary = "y = min(max(x, min), max); an absent bound does not bound",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = {},
                                .infer = infer,
                                .evaluate = evaluate,
                                .cost = cost_per_element<2>};

}  // namespace nereid::ops
