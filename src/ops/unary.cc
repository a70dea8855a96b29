// SPDX-License-Identifier: Apache-2.0
// The ops that apply one function without parameters to each element of a float tensor.
#include <cmath>

#include "ops/activation.h"
#include "ops/elementwise.h"
#include "ops/op.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  return std::vector<TensorType>{rule.type(0)};
}

template <auto F>
Status evaluate(const EvalContext& ctx) {
  return map<double, double>(ctx.inputs[0], ctx.outputs[0], F);
}

// ln(1 + x) keeps small results exact; written so that e^x cannot overflow.
double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
double hard_swish(double x) {
  const double gate = x / 6 + 0.5;
  return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
}

template <auto F, int Flops>
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

extern constexpr OpDef kAcos = unary<[](double x) { return std::acos(x); }, 10>("acos", "y = arc cosine of x");
extern constexpr OpDef kAcosh = unary<[](double x) { return std::acosh(x); }, 10>("acosh", "y = inverse of cosh at x");
extern constexpr OpDef kAsin = unary<[](double x) { return std::asin(x); }, 10>("asin", "y = arc sine of x");
extern constexpr OpDef kAsinh = unary<[](double x) { return std::asinh(x); }, 10>("asinh", "y = inverse of sinh at x");
extern constexpr OpDef kAtan = unary<[](double x) { return std::atan(x); }, 10>("atan", "y = arc tangent of x");
extern constexpr OpDef kAtanh = unary<[](double x) { return std::atanh(x); }, 10>("atanh", "y = inverse of tanh at x");
extern constexpr OpDef kCeil =
    unary<[](double x) { return std::ceil(x); }, 1>("ceil", "y = least whole number not below x");
extern constexpr OpDef kCos = unary<[](double x) { return std::cos(x); }, 10>("cos", "y = cosine of x");
extern constexpr OpDef kCosh = unary<[](double x) { return std::cosh(x); }, 10>("cosh", "y = (e^x + e^-x) / 2");
extern constexpr OpDef kErf = unary<[](double x) { return std::erf(x); }, 12>("erf", "y = error function of x");
extern constexpr OpDef kExp = unary<[](double x) { return std::exp(x); }, 8>("exp", "y = e^x");
extern constexpr OpDef kFloor =
    unary<[](double x) { return std::floor(x); }, 1>("floor", "y = greatest whole number not above x");
extern constexpr OpDef kGelu = unary<gelu, 12>("gelu", "y = x * Phi(x), Phi the standard normal distribution");
extern constexpr OpDef kGeluTanh =
    unary<gelu_tanh, 14>("gelu_tanh", "y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))");
extern constexpr OpDef kHardSwish = unary<hard_swish, 4>("hard_swish", "y = x * max(0, min(1, x / 6 + 1 / 2))");
extern constexpr OpDef kLog = unary<[](double x) { return std::log(x); }, 8>("log", "y = natural logarithm of x");
extern constexpr OpDef kMish =
    unary<[](double x) { return x * std::tanh(softplus(x)); }, 20>("mish", "y = x tanh(softplus(x))");
extern constexpr OpDef kReciprocal = unary<[](double x) { return 1 / x; }, 1>("reciprocal", "y = 1 / x");
extern constexpr OpDef kRound =
    unary<[](double x) { return std::nearbyint(x); }, 1>("round", "y = nearest whole number, halves to the even one");
extern constexpr OpDef kSigmoid = unary<sigmoid, 10>("sigmoid", "y = 1 / (1 + e^-x)");
extern constexpr OpDef kSilu = unary<silu, 11>("silu", "y = x / (1 + e^-x)");
extern constexpr OpDef kSin = unary<[](double x) { return std::sin(x); }, 10>("sin", "y = sine of x");
extern constexpr OpDef kSinh = unary<[](double x) { return std::sinh(x); }, 10>("sinh", "y = (e^x - e^-x) / 2");
extern constexpr OpDef kSoftplus = unary<softplus, 16>("softplus", "y = ln(1 + e^x)");
extern constexpr OpDef kSoftsign =
    unary<[](double x) { return x / (1 + std::abs(x)); }, 3>("softsign", "y = x / (1 + |x|)");
extern constexpr OpDef kSqrt = unary<[](double x) { return std::sqrt(x); }, 1>("sqrt", "y = square root of x");
extern constexpr OpDef kTan = unary<[](double x) { return std::tan(x); }, 10>("tan", "y = tangent of x");
extern constexpr OpDef kTanh = unary<[](double x) { return std::tanh(x); }, 10>("tanh", "y = tanh(x)");

}  // namespace nereid::ops
