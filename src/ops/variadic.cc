// SPDX-License-Identifier: Apache-2.0
// Ops of any number of tensors with numpy's broadcasting: min, max, sum, mean.
#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x", .variadic = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (ctx.inputs.empty()) return invalid_argument("there are no inputs, but at least one is needed");
  for (size_t i = 0; i < ctx.inputs.size(); ++i)
    if (!rule.has(i)) return invalid_argument("input {} is absent", i);
  NEREID_RETURN_IF_ERROR(is_number(rule, 0));
  NEREID_RETURN_IF_ERROR(one_dtype(rule, 0, ctx.inputs.size()));
  NEREID_TRY(Shape shape, broadcast_inputs(rule, 0, ctx.inputs.size()));
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(shape)}};
}

// All inputs combined from left to right.
template <typename T, typename F>
Elements<T> combine(const EvalContext& ctx, F&& f) {
  Elements<T> y(ctx.outputs[0].elements());
  for (size_t i = 0; i < ctx.inputs.size(); ++i) {
    const Elements<T> x = load<T>(ctx.inputs[i]);
    BroadcastWalk walk(ctx.outputs[0].sizes, ctx.inputs.subspan(i, 1));
    for (T& v : y) {
      v = i == 0 ? x[walk[0]] : f(v, x[walk[0]]);
      walk.next();
    }
  }
  return y;
}

Status evaluate_max(const EvalContext& ctx) {
  return with_wide(ctx.outputs[0].dtype,
                   [&]<typename T>() { return store<T>(ctx.outputs[0], combine<T>(ctx, larger<T>)); });
}
Status evaluate_min(const EvalContext& ctx) {
  return with_wide(ctx.outputs[0].dtype,
                   [&]<typename T>() { return store<T>(ctx.outputs[0], combine<T>(ctx, smaller<T>)); });
}
Status evaluate_sum(const EvalContext& ctx) {
  return with_wide(ctx.outputs[0].dtype,
                   [&]<typename T>() { return store<T>(ctx.outputs[0], combine<T>(ctx, plus<T>)); });
}
Status evaluate_mean(const EvalContext& ctx) {
  return with_wide(ctx.outputs[0].dtype, [&]<typename T>() {
    Elements<T> y = combine<T>(ctx, plus<T>);
    for (T& v : y) v /= static_cast<T>(ctx.inputs.size());
    return store<T>(ctx.outputs[0], y);
  });
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  cost.flops = static_cast<double>(ctx.inputs.size()) * elements_of(outputs[0]);
  return cost;
}

constexpr OpDef variadic(std::string_view name, std::string_view summary, Status (*evaluator)(const EvalContext&)) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = {},
          .infer = infer,
          .evaluate = evaluator,
          .cost = cost};
}

}  // namespace

extern constexpr OpDef kMax = variadic("max", "the largest of the inputs, broadcast as numpy does", evaluate_max);
extern constexpr OpDef kMean = variadic("mean", "the mean of the inputs, broadcast as numpy does", evaluate_mean);
extern constexpr OpDef kMin = variadic("min", "the smallest of the inputs, broadcast as numpy does", evaluate_min);
extern constexpr OpDef kSum = variadic("sum", "the sum of the inputs, broadcast as numpy does", evaluate_sum);

}  // namespace nereid::ops
