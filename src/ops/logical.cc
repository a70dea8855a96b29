// SPDX-License-Identifier: Apache-2.0
// Ops of two bool tensors: and, or, xor.
#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {0, 1}) NEREID_RETURN_IF_ERROR(is_truth(rule, i));
  NEREID_TRY(Shape shape, broadcast_inputs(rule, 0, 2));
  return std::vector<TensorType>{{DType::boolean, std::move(shape)}};
}

constexpr auto kAndOf = [](bool a, bool b) { return a && b; };
constexpr auto kOrOf = [](bool a, bool b) { return a || b; };
constexpr auto kXorOf = [](bool a, bool b) { return a != b; };

template <auto F>
Status evaluate(const EvalContext& ctx) {
  return zip<bool, bool>(ctx, F);
}

constexpr OpDef logical(std::string_view name, std::string_view summary, Status (*evaluator)(const EvalContext&)) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = {},
          .infer = infer,
          .evaluate = evaluator,
          .cost = cost_per_element<1>,
          .commutative = true};
}

}  // namespace

extern constexpr OpDef kAnd = logical("and", "whether a and b, broadcast as numpy does", evaluate<kAndOf>);
extern constexpr OpDef kOr = logical("or", "whether a or b, broadcast as numpy does", evaluate<kOrOf>);
extern constexpr OpDef kXor = logical("xor", "whether one of a and b, broadcast as numpy does", evaluate<kXorOf>);

}  // namespace nereid::ops
