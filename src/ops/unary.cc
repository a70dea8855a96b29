// SPDX-License-Identifier: Apache-2.0
// The ops that apply one function to each element: silu, gelu, gelu_tanh, relu, sigmoid, tanh, exp, neg, sqrt,
// identity.
#include <cmath>

#include "ops/activation.h"
#include "ops/numeric.h"
#include "ops/op_list.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  return std::vector<TensorType>{rule.type(0)};
}

Result<std::vector<TensorType>> infer_any(const InferContext& ctx) {
  return std::vector<TensorType>{*ctx.inputs[0]};
}

template <double (*F)(double)>
Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(auto x, read_floats(ctx.inputs[0]));
  for (float& v : x) v = static_cast<float>(F(v));
  write_floats(ctx.outputs[0], 0, x);
  return Status::ok();
}

Status evaluate_identity(const EvalContext& ctx) {
  const auto* src = ctx.inputs[0].as<std::byte>();
  std::copy(src, src + ctx.inputs[0].bytes(), ctx.outputs[0].as<std::byte>());
  return Status::ok();
}

double exponential(double x) {
  return std::exp(x);
}
double negative(double x) {
  return -x;
}
double square_root(double x) {
  return std::sqrt(x);
}
double hyperbolic_tangent(double x) {
  return std::tanh(x);
}

template <double (*F)(double), int Flops>
constexpr OpDef unary(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = {},
          .infer = infer,
          .evaluate = evaluate<F>,
          .cost = cost_per_element<Flops>};
}

}  // namespace

constexpr OpDef kExp = unary<exponential, 8>("exp", "y = e^x");
constexpr OpDef kGelu = unary<gelu, 12>("gelu", "y = x * Phi(x), Phi the standard normal distribution");
constexpr OpDef kGeluTanh =
    unary<gelu_tanh, 14>("gelu_tanh", "y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))");
constexpr OpDef kNeg = unary<negative, 1>("neg", "y = -x");
constexpr OpDef kRelu = unary<relu, 1>("relu", "y = max(x, 0)");
constexpr OpDef kSigmoid = unary<sigmoid, 10>("sigmoid", "y = 1 / (1 + e^-x)");
constexpr OpDef kSilu = unary<silu, 11>("silu", "y = x / (1 + e^-x)");
constexpr OpDef kSqrt = unary<square_root, 1>("sqrt", "y = square root of x");
constexpr OpDef kTanh = unary<hyperbolic_tangent, 10>("tanh", "y = tanh(x)");

constexpr OpDef kIdentity = {.name = "identity",
                             .summary = "y = x, whatever its type",
                             .inputs = kInputs,
                             .outputs = kOutputs,
                             .attrs = {},
                             .infer = infer_any,
                             .evaluate = evaluate_identity,
                             .cost = cost_per_element<0>};

}  // namespace nereid::ops
