// SPDX-License-Identifier: Apache-2.0
// Random tensors: random_normal, random_uniform, bernoulli, multinomial. The same seed gives the same numbers, on every
// machine; the seed is 0 where none is given.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kShapeInputs[] = {{.name = "shape"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kSeed = {"seed", AttrSpec::Kind::kFloat, "0.0", "where the sequence of numbers starts"};
constexpr AttrSpec kNormalAttrs[] = {{"dtype", AttrSpec::Kind::kString, "f32", "the result's element type"},
                                     {"mean", AttrSpec::Kind::kFloat, "0.0", "the distribution's mean"},
                                     {"scale", AttrSpec::Kind::kFloat, "1.0", "its standard deviation"},
                                     kSeed};
constexpr AttrSpec kUniformAttrs[] = {{"dtype", AttrSpec::Kind::kString, "f32", "the result's element type"},
                                      {"high", AttrSpec::Kind::kFloat, "1.0", "no number reaches it"},
                                      {"low", AttrSpec::Kind::kFloat, "0.0", "the least number"},
                                      kSeed};

// A counter through a mixing function (splitmix64's constants): short, and good enough for initial weights and noise.
class Draws {
 public:
  explicit Draws(const Attrs& attrs) : state_(std::bit_cast<uint64_t>(attrs.real("seed"))) {}
  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Box and Muller's pairs.
  double normal() {
    if (spare_there_) {
      spare_there_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    spare_there_ = true;
    return radius * std::cos(angle);
  }

 private:
  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  uint64_t state_;
  double spare_ = 0;
  bool spare_there_ = false;
};

// The type that the attribute names; `otherwise` where it names none.
Result<DType> wanted_dtype(const Attrs& attrs, DType otherwise) {
  const std::string& name = attrs.text("dtype");
  const auto dtype = name.empty() ? otherwise : dtype_from_name(name);
  if (!dtype) return invalid_argument("there is no element type '{}'", name);
  if (!is_float(*dtype) && !is_integer(*dtype) && *dtype != DType::boolean)
    return unsupported("random elements of type {} are not known", dtype_name(*dtype));
  return *dtype;
}

DType dtype_of(const InferContext& ctx, size_t) {
  const auto wanted = wanted_dtype(ctx.attrs, ctx.inputs[0]->dtype);
  return wanted ? *wanted : DType::f32;
}

Result<std::vector<TensorType>> infer_of_shape(const InferContext& ctx) {
  ShapeRule rule(ctx, kShapeInputs);
  NEREID_RETURN_IF_ERROR(rule.is_index(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 1));
  NEREID_TRY(const DType dtype, wanted_dtype(ctx.attrs, DType::f32));
  NEREID_TRY(Shape shape, shape_of_rank(rule.dim(0, 0)));
  if (const auto sizes = known_integers(ctx, 0)) {
    for (size_t i = 0; i < sizes->size(); ++i)
      if ((*sizes)[i] < 0) return invalid_argument("shape[{}] is {}, which is no size", i, (*sizes)[i]);
    shape = Shape::of(*sizes);
  }
  return std::vector<TensorType>{{dtype, std::move(shape)}};
}

Status evaluate_normal(const EvalContext& ctx) {
  Draws draws(ctx.attrs);
  Elements<double> values(ctx.outputs[0].elements());
  for (double& v : values) v = ctx.attrs.real("mean") + ctx.attrs.real("scale") * draws.normal();
  return store<double>(ctx.outputs[0], values);
}

Status evaluate_uniform(const EvalContext& ctx) {
  Draws draws(ctx.attrs);
  const double low = ctx.attrs.real("low");
  const double high = ctx.attrs.real("high");
  Elements<double> values(ctx.outputs[0].elements());
  for (double& v : values) v = low + (high - low) * draws.uniform();
  return store<double>(ctx.outputs[0], values);
}

constexpr ArgSpec kBernoulliInputs[] = {{.name = "p"}};
constexpr AttrSpec kBernoulliAttrs[] = {
    {"dtype", AttrSpec::Kind::kString, "\"\"", "the result's element type; empty: that of p"}, kSeed};

Result<std::vector<TensorType>> infer_bernoulli(const InferContext& ctx) {
  ShapeRule rule(ctx, kBernoulliInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_TRY(const DType dtype, wanted_dtype(ctx.attrs, rule.type(0).dtype));
  return std::vector<TensorType>{{dtype, rule.shape(0)}};
}

Status evaluate_bernoulli(const EvalContext& ctx) {
  Draws draws(ctx.attrs);
  Elements<double> values = load<double>(ctx.inputs[0]);
  for (double& p : values) p = draws.uniform() < p ? 1 : 0;
  return store<double>(ctx.outputs[0], values);
}

constexpr ArgSpec kMultinomialInputs[] = {{.name = "logits"}};
constexpr AttrSpec kMultinomialAttrs[] = {{"dtype", AttrSpec::Kind::kString, "i32", "the result's type: i32 or i64"},
                                          {"sample_size", AttrSpec::Kind::kInt, "1", "draws a row"},
                                          kSeed};

Result<std::vector<TensorType>> infer_multinomial(const InferContext& ctx) {
  ShapeRule rule(ctx, kMultinomialInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 2));
  NEREID_TRY(const DType dtype, wanted_dtype(ctx.attrs, DType::i32));
  if (dtype != DType::i32 && dtype != DType::i64)
    return invalid_argument("dtype is {} and should be i32 or i64", dtype_name(dtype));
  const int64_t samples = ctx.attrs.integer("sample_size");
  if (samples < 0) return invalid_argument("sample_size is {} and should not be negative", samples);
  if (rule.dim(0, 1) == Dim(0)) return invalid_argument("{} has no outcomes to draw from", rule.describe(0));
  return std::vector<TensorType>{{dtype, Shape{rule.dim(0, 0), samples}}};
}

// The first outcome at which the sum of the probabilities passes a number of [0, 1).
Status evaluate_multinomial(const EvalContext& ctx) {
  Draws draws(ctx.attrs);
  const Elements<double> logits = load<double>(ctx.inputs[0]);
  const int64_t outcomes = ctx.inputs[0].sizes[1];
  const int64_t samples = ctx.outputs[0].sizes[1];
  Elements<int64_t> drawn(ctx.outputs[0].elements());
  std::vector<double> sums(static_cast<size_t>(outcomes));
  for (int64_t row = 0; row * samples < drawn.size(); ++row) {
    double largest = logits[row * outcomes];
    for (int64_t i = 0; i < outcomes; ++i) largest = std::max(largest, logits[row * outcomes + i]);
    double sum = 0;
    for (int64_t i = 0; i < outcomes; ++i) {
      const double weight = std::exp(logits[row * outcomes + i] - largest);
      sum += std::isnan(weight) ? 0 : weight;
      sums[static_cast<size_t>(i)] = sum;
    }
    for (int64_t i = 0; i < samples; ++i) {
      const auto found = std::ranges::upper_bound(sums, draws.uniform() * sum);
      drawn[row * samples + i] = std::min<int64_t>(found - sums.begin(), outcomes - 1);
    }
  }
  return store<int64_t>(ctx.outputs[0], drawn);
}

}  // namespace

extern constexpr OpDef kBernoulli = {.name = "bernoulli",
                                     .summary = "1 with probability p, else 0",
                                     .inputs = kBernoulliInputs,
                                     .outputs = kOutputs,
                                     .attrs = kBernoulliAttrs,
                                     .infer = infer_bernoulli,
                                     .evaluate = evaluate_bernoulli,
                                     .cost = cost_per_element<8>,
                                     .dtype_of = dtype_of,
                                     .is_random = true};

extern constexpr OpDef kMultinomial = {.name = "multinomial",
                                       .summary = "outcomes drawn with probabilities softmax(logits), row by row",
                                       .inputs = kMultinomialInputs,
                                       .outputs = kOutputs,
                                       .attrs = kMultinomialAttrs,
                                       .infer = infer_multinomial,
                                       .evaluate = evaluate_multinomial,
                                       .cost = cost_per_element<16>,
                                       .dtype_of = dtype_of,
                                       .is_random = true};

extern constexpr OpDef kRandomNormal = {.name = "random_normal",
                                        .summary = "numbers of a normal distribution, of the sizes in shape",
                                        .inputs = kShapeInputs,
                                        .outputs = kOutputs,
                                        .attrs = kNormalAttrs,
                                        .infer = infer_of_shape,
                                        .evaluate = evaluate_normal,
                                        .cost = cost_per_element<32>,
                                        .dtype_of = dtype_of,
                                        .is_random = true};

extern constexpr OpDef kRandomUniform = {.name = "random_uniform",
                                         .summary = "numbers from low to high, equally likely, of the sizes in shape",
                                         .inputs = kShapeInputs,
                                         .outputs = kOutputs,
                                         .attrs = kUniformAttrs,
                                         .infer = infer_of_shape,
                                         .evaluate = evaluate_uniform,
                                         .cost = cost_per_element<8>,
                                         .dtype_of = dtype_of,
                                         .is_random = true};

}  // namespace nereid::ops
