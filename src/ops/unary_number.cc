// SPDX-License-Identifier: Apache-2.0
// The ops of one tensor that take integers too, or only: abs, neg, relu, sign; bitwise_not; not.
#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

template <Status (*Takes)(const ShapeRule&, size_t)>
Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(Takes(rule, 0));
  return std::vector<TensorType>{rule.type(0)};
}

// The smallest number of a signed type is its own negative.
constexpr auto kAbsOf = []<typename T>(T x) { return x < T(0) ? minus(T(0), x) : x == T(0) ? T(0) : x; };
constexpr auto kNegOf = []<typename T>(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return -x;
  else
    return minus(T(0), x);
};
// Written so that a not-a-number stays one.
constexpr auto kReluOf = []<typename T>(T x) { return x < T(0) ? T(0) : x; };
constexpr auto kSignOf = []<typename T>(T x) { return x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : x; };

template <auto F>
Status evaluate(const EvalContext& ctx) {
  return with_wide(ctx.inputs[0].dtype, [&]<typename T>() { return map<T, T>(ctx.inputs[0], ctx.outputs[0], F); });
}

Status evaluate_bitwise_not(const EvalContext& ctx) {
  return map<uint64_t, uint64_t>(ctx.inputs[0], ctx.outputs[0], [](uint64_t v) { return ~v; });
}

Status evaluate_not(const EvalContext& ctx) {
  return map<bool, bool>(ctx.inputs[0], ctx.outputs[0], [](bool v) { return !v; });
}

constexpr OpDef simple(std::string_view name, std::string_view summary,
                       Result<std::vector<TensorType>> (*rule)(const InferContext&),
                       Status (*evaluator)(const EvalContext&)) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = {},
          .infer = rule,
          .evaluate = evaluator,
          .cost = cost_per_element<1>};
}

}  // namespace

extern constexpr OpDef kAbs = simple("abs", "y = |x|", infer<is_number>, evaluate<kAbsOf>);
extern constexpr OpDef kBitwiseNot =
    simple("bitwise_not", "y = x with every bit turned", infer<is_whole>, evaluate_bitwise_not);
extern constexpr OpDef kNeg = simple("neg", "y = -x", infer<is_number>, evaluate<kNegOf>);
extern constexpr OpDef kNot = simple("not", "y is true where x is false", infer<is_truth>, evaluate_not);
extern constexpr OpDef kRelu = simple("relu", "y = max(x, 0)", infer<is_number>, evaluate<kReluOf>);
extern constexpr OpDef kSign =
    simple("sign", "y = -1, 0 or 1 as x is negative, 0 or positive", infer<is_number>, evaluate<kSignOf>);

}  // namespace nereid::ops
