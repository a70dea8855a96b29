// SPDX-License-Identifier: Apache-2.0
// The activations of the lowered ops, and the plain form of what they do to their sums.
#include "ops/epilogue.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ops/activation.h"

namespace nereid::ops {
namespace {

double hard(double x, double alpha, double beta) {
  const double gate = alpha * x + beta;
  return gate < 0 ? 0 : gate > 1 ? 1 : gate;
}
// ln(1 + e^x) without overflow.
double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

constexpr EpilogueAct kActs[] = {
    {"none", [](double x, double, double) { return x; }},
    {"relu", [](double x, double, double) { return relu(x); }},
    {"clip", [](double x, double alpha, double beta) { return std::min(beta, std::max(alpha, x)); }},
    {"leaky_relu", [](double x, double alpha, double) { return x < 0 ? alpha * x : x; }},
    {"sigmoid", [](double x, double, double) { return sigmoid(x); }},
    {"tanh", [](double x, double, double) { return std::tanh(x); }},
    {"silu", [](double x, double alpha, double) { return x * sigmoid(alpha * x); }},
    {"gelu", [](double x, double, double) { return gelu(x); }},
    {"gelu_tanh", [](double x, double, double) { return gelu_tanh(x); }},
    {"hard_sigmoid", hard},
    {"hard_swish", [](double x, double alpha, double beta) { return x * hard(x, alpha, beta); }},
    {"elu", [](double x, double alpha, double) { return x < 0 ? alpha * std::expm1(x) : x; }},
    {"mish", [](double x, double, double) { return x * std::tanh(softplus(x)); }},
};

}  // namespace

std::span<const EpilogueAct> epilogue_acts() {
  return kActs;
}

Result<const EpilogueAct*> find_epilogue_act(std::string_view name) {
  for (const EpilogueAct& act : kActs)
    if (act.name == name) return &act;
  std::string known;
  for (const EpilogueAct& act : kActs) known += (known.empty() ? "" : ", ") + std::string(act.name);
  return invalid_argument("there is no activation '{}'; the known ones are {}", name, known);
}

Status check_epilogue(const InferContext& ctx, const ShapeRule& rule, size_t residual, const TensorType& result) {
  NEREID_RETURN_IF_ERROR(find_epilogue_act(ctx.attrs.text("activation")));
  if (!rule.has(residual)) return Status::ok();
  const TensorType& type = rule.type(residual);
  bool fits = type.dtype == result.dtype && type.shape.rank() == result.shape.rank();
  for (int d = 0; fits && d < type.shape.rank(); ++d) fits = merge(type.shape[d], result.shape[d]).has_value();
  if (!fits) return invalid_argument("{} should be as the result, {}", rule.describe(residual), result.to_string());
  return Status::ok();
}

Status apply_epilogue(const Attrs& attrs, const ConstTensorView& bias, const ConstTensorView& residual,
                      Elements<double>& sums, int64_t columns) {
  NEREID_TRY(const EpilogueAct* act, find_epilogue_act(attrs.text("activation")));
  const double alpha = attrs.real("alpha"), beta = attrs.real("beta");
  const bool last = attrs.boolean("residual_last");
  const double scale = attrs.has("scale") ? attrs.real("scale") : 1;
  const double shift = attrs.has("shift") ? attrs.real("shift") : 0;
  const Elements<double> b = bias.data != nullptr ? load<double>(bias) : Elements<double>();
  const Elements<double> r = residual.data != nullptr ? load<double>(residual) : Elements<double>();
  for (int64_t i = 0; i < sums.size(); ++i) {
    double y = sums[i];
    if (b.size() > 0) y += b[i % columns];
    if (r.size() > 0 && !last) y += r[i];
    y = scale * act->function(y, alpha, beta) + shift;
    if (r.size() > 0 && last) y += r[i];
    sums[i] = y;
  }
  return Status::ok();
}

}  // namespace nereid::ops
