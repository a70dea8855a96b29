// SPDX-License-Identifier: Apache-2.0
// Comparisons of two tensors: equal (of any type), greater, greater_or_equal, less, less_or_equal.
#include <functional>
#include <string>

#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer_equal(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(one_dtype(rule, 0, 2));
  const auto kind = dtype_info(rule.type(0).dtype).kind;
  if (kind == DTypeInfo::Kind::kBlock || kind == DTypeInfo::Kind::kComplex)
    return unsupported("elements of {} are not compared", rule.describe(0));
  NEREID_TRY(Shape shape, broadcast_inputs(rule, 0, 2));
  return std::vector<TensorType>{{DType::boolean, std::move(shape)}};
}

Result<std::vector<TensorType>> infer_order(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_number(rule, 0));
  return infer_equal(ctx);
}

DType truth(const InferContext&, size_t) {
  return DType::boolean;
}

template <typename F>
Status evaluate(const EvalContext& ctx) {
  return with_wide(ctx.inputs[0].dtype, [&]<typename T>() { return zip<T, bool>(ctx, F()); });
}

Status evaluate_equal(const EvalContext& ctx) {
  if (ctx.inputs[0].dtype != DType::string) return evaluate<std::equal_to<>>(ctx);
  const auto* a = ctx.inputs[0].as<std::string>();
  const auto* b = ctx.inputs[1].as<std::string>();
  Elements<bool> y(ctx.outputs[0].elements());
  BroadcastWalk walk(ctx.outputs[0].sizes, ctx.inputs.first(2));
  for (bool& v : y) {
    v = a[walk[0]] == b[walk[1]];
    walk.next();
  }
  return store<bool>(ctx.outputs[0], y);
}

constexpr OpDef order(std::string_view name, std::string_view summary, Status (*evaluator)(const EvalContext&)) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = {},
          .infer = infer_order,
          .evaluate = evaluator,
          .cost = cost_per_element<1>,
          .dtype_of = truth};
}

}  // namespace

extern constexpr OpDef kEqual = {.name = "equal",
                                 .summary = "whether a = b, broadcast as numpy does",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = {},
                                 .infer = infer_equal,
                                 .evaluate = evaluate_equal,
                                 .cost = cost_per_element<1>,
                                 .commutative = true,
                                 .dtype_of = truth};
extern constexpr OpDef kGreater = order("greater", "whether a > b, broadcast as numpy does", evaluate<std::greater<>>);
extern constexpr OpDef kGreaterOrEqual =
    order("greater_or_equal", "whether a >= b, broadcast as numpy does", evaluate<std::greater_equal<>>);
extern constexpr OpDef kLess = order("less", "whether a < b, broadcast as numpy does", evaluate<std::less<>>);
extern constexpr OpDef kLessOrEqual =
    order("less_or_equal", "whether a <= b, broadcast as numpy does", evaluate<std::less_equal<>>);

}  // namespace nereid::ops
