// SPDX-License-Identifier: Apache-2.0
// pow: powers, in the element type of the base; the exponent may be of another type.
#include <cmath>

#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "exponent"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {0, 1}) NEREID_RETURN_IF_ERROR(is_number(rule, i));
  NEREID_TRY(Shape shape, broadcast_inputs(rule, 0, 2));
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(shape)}};
}

// By repeated squaring; wraps.
uint64_t power(uint64_t x, uint64_t exponent) {
  uint64_t y = 1;
  for (; exponent != 0; exponent >>= 1, x *= x)
    if (exponent & 1) y *= x;
  return y;
}

// Negative exponents: 1 / x^|exponent|, rounded towards zero.
Status evaluate_whole(const EvalContext& ctx) {
  const Elements<uint64_t> x = load<uint64_t>(ctx.inputs[0]);  // negative ones as their two's complement
  const Elements<uint64_t> e = load<uint64_t>(ctx.inputs[1]);
  const bool is_signed = !is_unsigned(ctx.inputs[1].dtype);
  Elements<uint64_t> y(ctx.outputs[0].elements());
  BroadcastWalk walk(ctx.outputs[0].sizes, ctx.inputs.first(2));
  for (uint64_t& v : y) {
    const uint64_t base = x[walk[0]];
    const uint64_t exponent = e[walk[1]];
    if (is_signed && static_cast<int64_t>(exponent) < 0) {
      if (base == 0) return invalid_argument("0 is raised to the power of {}", static_cast<int64_t>(exponent));
      const bool is_minus_one = base == ~uint64_t{0} && !is_unsigned(ctx.inputs[0].dtype);
      v = base == 1 ? 1 : is_minus_one ? (exponent & 1 ? base : 1) : 0;
    } else {
      v = power(base, exponent);
    }
    walk.next();
  }
  return store<uint64_t>(ctx.outputs[0], y);
}

Status evaluate(const EvalContext& ctx) {
  if (is_integer(ctx.inputs[0].dtype) && is_integer(ctx.inputs[1].dtype)) return evaluate_whole(ctx);
  return zip<double, double>(ctx, [](double x, double e) { return std::pow(x, e); });
}

}  // namespace

extern constexpr OpDef kPow = {.name = "pow",
                               .summary = "y = x^exponent, broadcast as numpy does",
                               .inputs = kInputs,
                               .outputs = kOutputs,
                               .attrs = {},
                               .infer = infer,
                               .evaluate = evaluate,
                               .cost = cost_per_element<16>};

}  // namespace nereid::ops
