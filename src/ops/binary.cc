// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic of two tensors with numpy's broadcasting: add, sub, mul, div, mod.
#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/op.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kModAttrs[] = {
    {"fmod", AttrSpec::Kind::kBool, "false", "whether the quotient is rounded towards zero instead of down"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(one_dtype(rule, 0, 2));
  NEREID_RETURN_IF_ERROR(is_number(rule, 0));
  NEREID_TRY(Shape shape, broadcast_inputs(rule, 0, 2));
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(shape)}};
}

struct Add {
  template <typename T>
  static T of(T a, T b) {
    return plus(a, b);
  }
};
struct Sub {
  template <typename T>
  static T of(T a, T b) {
    return minus(a, b);
  }
};
struct Mul {
  template <typename T>
  static T of(T a, T b) {
    return times(a, b);
  }
};

template <typename F>
Status evaluate(const EvalContext& ctx) {
  return with_wide(ctx.outputs[0].dtype,
                   [&]<typename T>() { return zip<T, T>(ctx, [](T a, T b) { return F::template of<T>(a, b); }); });
}

// Integers have no quotient by 0.
template <typename T, typename F>
Status divide(const EvalContext& ctx, F&& f) {
  if constexpr (std::is_integral_v<T>) {
    const Elements<T> b = load<T>(ctx.inputs[1]);
    BroadcastWalk walk(ctx.outputs[0].sizes, ctx.inputs.first(2));
    const bool has_zero = std::find(b.begin(), b.end(), T(0)) != b.end();
    for (int64_t i = 0, n = has_zero ? ctx.outputs[0].elements() : 0; i < n; ++i, walk.next())
      if (b[walk[1]] == 0) return invalid_argument("the integer {} is divided by 0", load<T>(ctx.inputs[0])[walk[0]]);
  }
  return zip<T, T>(ctx, f);
}

Status evaluate_div(const EvalContext& ctx) {
  return with_wide(ctx.outputs[0].dtype, [&]<typename T>() { return divide<T>(ctx, quotient<T>); });
}

// a - truncated quotient * b: the sign of a.
template <typename T>
T remainder_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    return minus(a, times(quotient(a, b), b));
  }
}

// a - floor(a / b) * b: the sign of b.
template <typename T>
T modulo(T a, T b) {
  const T r = remainder_of(a, b);
  if constexpr (std::is_floating_point_v<T>) {
    if (r == 0) return std::copysign(r, b);
  }
  return r != 0 && (r < 0) != (b < 0) ? plus(r, b) : r;
}

Status evaluate_mod(const EvalContext& ctx) {
  const bool truncates = ctx.attrs.boolean("fmod");
  return with_wide(ctx.outputs[0].dtype,
                   [&]<typename T>() { return divide<T>(ctx, truncates ? remainder_of<T> : modulo<T>); });
}

constexpr OpDef binary(std::string_view name, std::string_view summary, Status (*evaluator)(const EvalContext&),
                       bool commutative = false, std::span<const AttrSpec> attrs = {}) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .evaluate = evaluator,
          .cost = cost_per_element<1>,
          .commutative = commutative};
}

}  // namespace

extern constexpr OpDef kAdd = binary("add", "y = a + b, broadcast as numpy does", evaluate<Add>, true);
extern constexpr OpDef kDiv =
    binary("div", "y = a / b, broadcast as numpy does; integers round towards zero", evaluate_div);
extern constexpr OpDef kMod =
    binary("mod", "y = a - floor(a / b) b, broadcast as numpy does", evaluate_mod, false, kModAttrs);
extern constexpr OpDef kMul = binary("mul", "y = a * b, broadcast as numpy does", evaluate<Mul>, true);
extern constexpr OpDef kSub = binary("sub", "y = a - b, broadcast as numpy does", evaluate<Sub>);

}  // namespace nereid::ops
