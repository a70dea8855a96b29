// SPDX-License-Identifier: Apache-2.0
// One step of training for any number of tensors: adagrad (Duchi, Hazan, Singer 2011), adam (Kingma, Ba 2015),
// momentum (Polyak 1964; Nesterov 1983).
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kRate, kCount, kTensors };
constexpr ArgSpec kInputs[] = {{.name = "rate"}, {.name = "count"}, {.name = "tensors", .variadic = true}};
constexpr ArgSpec kOutputs[] = {{.name = "tensors", .variadic = true}};

constexpr AttrSpec kEpsilon = {"epsilon", AttrSpec::Kind::kFloat, "1e-06", "keeps divisors from being 0"};
constexpr AttrSpec kNormCoefficient = {"norm_coefficient", AttrSpec::Kind::kFloat, "0.0",
                                       "this times the tensor is added to its gradient"};
constexpr AttrSpec kAdagradAttrs[] = {
    {"decay_factor", AttrSpec::Kind::kFloat, "0.0", "how the rate falls with the count"}, kEpsilon, kNormCoefficient};
constexpr AttrSpec kAdamAttrs[] = {
    {"alpha", AttrSpec::Kind::kFloat, "0.9", "how much of the mean gradient stays"},
    {"beta", AttrSpec::Kind::kFloat, "0.999", "how much of the mean squared gradient stays"},
    kEpsilon,
    kNormCoefficient,
    {"norm_coefficient_post", AttrSpec::Kind::kFloat, "0.0", "share of the result that is taken away"}};
constexpr AttrSpec kMomentumAttrs[] = {
    {"alpha", AttrSpec::Kind::kFloat, "", "how much of the momentum stays"},
    {"beta", AttrSpec::Kind::kFloat, "", "factor of gradients after the first step"},
    {"mode", AttrSpec::Kind::kString, "", "standard or nesterov"},
    {"norm_coefficient", AttrSpec::Kind::kFloat, "", "this times the tensor is added to its gradient"}};

// The tensors stand in groups (values, gradients, then what the method keeps); gradients are no results.
template <size_t Groups>
Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (ctx.inputs.size() <= kTensors || (ctx.inputs.size() - kTensors) % Groups != 0)
    return invalid_argument("there are {} tensors and should be {} for each that is trained",
                            ctx.inputs.size() < kTensors ? 0 : ctx.inputs.size() - kTensors, Groups);
  NEREID_RETURN_IF_ERROR(rule.is_activation(kRate));
  NEREID_RETURN_IF_ERROR(rule.is_index(kCount));
  for (size_t i : {kRate, kCount})
    if (rule.shape(i).elements().value_or(1) != 1) return invalid_argument("{} should be one number", rule.describe(i));
  const size_t count = (ctx.inputs.size() - kTensors) / Groups;
  std::vector<TensorType> results;
  for (size_t group = 0; group < Groups; ++group) {
    for (size_t i = 0; i < count; ++i) {
      const size_t at = kTensors + group * count + i;
      NEREID_RETURN_IF_ERROR(rule.is_activation(at));
      NEREID_RETURN_IF_ERROR(rule.same_type(kTensors + i, at));
      if (group != 1) results.push_back(rule.type(at));
    }
  }
  if (ctx.attrs.has("mode") && ctx.attrs.text("mode") != "standard" && ctx.attrs.text("mode") != "nesterov")
    return invalid_argument("the mode is '{}' and should be standard or nesterov", ctx.attrs.text("mode"));
  return results;
}

struct Step {
  double rate, count;
  const Attrs& attrs;
};

// x, its gradient and what the method keeps of one element.
struct Adagrad {
  static constexpr size_t kGroups = 3;
  static void apply(const Step& step, double* v) {
    const double gradient = step.attrs.real("norm_coefficient") * v[0] + v[1];
    v[2] += gradient * gradient;
    v[0] -= step.rate / (1 + step.count * step.attrs.real("decay_factor")) * gradient /
            (std::sqrt(v[2]) + step.attrs.real("epsilon"));
  }
};
struct Adam {
  static constexpr size_t kGroups = 4;
  static void apply(const Step& step, double* v) {
    const double alpha = step.attrs.real("alpha");
    const double beta = step.attrs.real("beta");
    const double gradient = step.attrs.real("norm_coefficient") * v[0] + v[1];
    v[2] = alpha * v[2] + (1 - alpha) * gradient;
    v[3] = beta * v[3] + (1 - beta) * gradient * gradient;
    const double rate = step.count > 0
                            ? step.rate * std::sqrt(1 - std::pow(beta, step.count)) / (1 - std::pow(alpha, step.count))
                            : step.rate;
    v[0] -= rate * v[2] / (std::sqrt(v[3]) + step.attrs.real("epsilon"));
    v[0] *= 1 - step.attrs.real("norm_coefficient_post");
  }
};
struct Momentum {
  static constexpr size_t kGroups = 3;
  static void apply(const Step& step, double* v) {
    const double alpha = step.attrs.real("alpha");
    const double gradient = step.attrs.real("norm_coefficient") * v[0] + v[1];
    v[2] = alpha * v[2] + (step.count > 0 ? step.attrs.real("beta") : 1) * gradient;
    v[0] -= step.rate * (step.attrs.text("mode") == "nesterov" ? gradient + alpha * v[2] : v[2]);
  }
};

template <typename Method>
Status evaluate(const EvalContext& ctx) {
  const Step step{load<double>(ctx.inputs[kRate])[0], load<double>(ctx.inputs[kCount])[0], ctx.attrs};
  const size_t count = (ctx.inputs.size() - kTensors) / Method::kGroups;
  for (size_t i = 0; i < count; ++i) {
    Elements<double> group[Method::kGroups];
    for (size_t g = 0; g < Method::kGroups; ++g) group[g] = load<double>(ctx.inputs[kTensors + g * count + i]);
    for (int64_t e = 0; e < group[0].size(); ++e) {
      double v[Method::kGroups];
      for (size_t g = 0; g < Method::kGroups; ++g) v[g] = group[g][e];
      Method::apply(step, v);
      for (size_t g = 0; g < Method::kGroups; ++g) group[g][e] = v[g];
    }
    NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[i], group[0]));
    for (size_t g = 2; g < Method::kGroups; ++g)
      NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[(g - 1) * count + i], group[g]));
  }
  return Status::ok();
}

template <typename Method>
constexpr OpDef optimizer(std::string_view name, std::string_view summary, std::span<const AttrSpec> attrs) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer<Method::kGroups>,
          .evaluate = evaluate<Method>};
}

}  // namespace

extern constexpr OpDef kAdagrad =
    optimizer<Adagrad>("adagrad", "a step against gradients over the root of their squares' sum", kAdagradAttrs);
extern constexpr OpDef kAdam =
    optimizer<Adam>("adam", "a step against mean gradients over the root of their mean squares", kAdamAttrs);
extern constexpr OpDef kMomentum =
    optimizer<Momentum>("momentum", "a step against a running sum of gradients", kMomentumAttrs);

}  // namespace nereid::ops
