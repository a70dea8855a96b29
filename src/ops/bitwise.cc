// SPDX-License-Identifier: Apache-2.0
// Ops of two integer tensors, bit by bit: bitwise_and, bitwise_or, bitwise_xor, bit_shift.
#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kShiftAttrs[] = {{"direction", AttrSpec::Kind::kString, "", "LEFT (to higher values) or RIGHT"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(one_dtype(rule, 0, 2));
  NEREID_RETURN_IF_ERROR(is_whole(rule, 0));
  NEREID_TRY(Shape shape, broadcast_inputs(rule, 0, 2));
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(shape)}};
}

Result<std::vector<TensorType>> infer_shift(const InferContext& ctx) {
  const std::string& direction = ctx.attrs.text("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    return invalid_argument("direction is '{}' and should be LEFT or RIGHT", direction);
  return infer(ctx);
}

constexpr auto kAndOf = [](uint64_t a, uint64_t b) { return a & b; };
constexpr auto kOrOf = [](uint64_t a, uint64_t b) { return a | b; };
constexpr auto kXorOf = [](uint64_t a, uint64_t b) { return a ^ b; };

template <auto F>
Status evaluate(const EvalContext& ctx) {
  return zip<uint64_t, uint64_t>(ctx, F);
}

// A shift by a negative number or by the width or more leaves what comes in: zeros, or copies of the sign to the right.
Status evaluate_shift(const EvalContext& ctx) {
  const bool left = ctx.attrs.text("direction") == "LEFT";
  const int bits = bits_of(ctx.outputs[0].dtype);
  return with_wide(ctx.outputs[0].dtype, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      return no_such_elements(ctx.outputs[0].dtype);
    } else {
      return zip<T, T>(ctx, [&](T a, T b) {
        const bool out = b < T(0) || b >= static_cast<T>(bits);
        if (left) return out ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << b);
        if (out) return a < T(0) ? static_cast<T>(-1) : T(0);
        return static_cast<T>(a >> b);
      });
    }
  });
}

constexpr OpDef bitwise(std::string_view name, std::string_view summary, Status (*evaluator)(const EvalContext&)) {
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

extern constexpr OpDef kBitShift = {.name = "bit_shift",
                                    .summary = "y = a moved by b bits; to the right with copies of the sign",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attrs = kShiftAttrs,
                                    .infer = infer_shift,
                                    .evaluate = evaluate_shift,
                                    .cost = cost_per_element<1>};
extern constexpr OpDef kBitwiseAnd = bitwise("bitwise_and", "the bits set in a and in b", evaluate<kAndOf>);
extern constexpr OpDef kBitwiseOr = bitwise("bitwise_or", "the bits set in a or in b", evaluate<kOrOf>);
extern constexpr OpDef kBitwiseXor = bitwise("bitwise_xor", "the bits set in one of a and b", evaluate<kXorOf>);

}  // namespace nereid::ops
