// SPDX-License-Identifier: Apache-2.0
// linear_regressor and linear_classifier: products with a table of coefficients and what becomes of the scores.
#include "ops/elements.h"
#include "ops/model_scores.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "coefficients"}, {.name = "intercepts", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr ArgSpec kClassOutputs[] = {{.name = "class"}, {.name = "scores"}};
constexpr AttrSpec kAttrs[] = {kPostTransformAttr};
constexpr AttrSpec kClassAttrs[] = {
    {"classes", AttrSpec::Kind::kInt, "", "as many as coefficients has rows; 2 with one"}, kPostTransformAttr};

// Rows of x: one row of x may be given without its batch.
Result<Dim> check(const ShapeRule& rule, const Attrs& attrs) {
  if (!is_float(rule.type(0).dtype) && !is_integer(rule.type(0).dtype)) return no_such_elements(rule.type(0).dtype);
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(0, 1));
  if (rule.rank(0) > 2) return invalid_argument("{} should have 1 or 2 dimensions", rule.describe(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, 2));
  NEREID_RETURN_IF_ERROR(rule.agree(0, -1, 1, 1));
  for (size_t i = 1; i < 3; ++i)
    if (rule.has(i) && !is_float(rule.type(i).dtype))
      return invalid_argument("{} should be of a float type", rule.describe(i));
  if (rule.has(2)) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(2, 0, 1, 0));
  }
  NEREID_RETURN_IF_ERROR(read_post_transform(attrs));
  return rule.rank(0) == 2 ? rule.dim(0, 0) : Dim(1);
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const Dim rows, check(rule, ctx.attrs));
  return std::vector<TensorType>{{DType::f32, Shape({rows, rule.dim(1, 0)})}};
}

Result<std::vector<TensorType>> infer_class(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const Dim rows, check(rule, ctx.attrs));
  const int64_t classes = ctx.attrs.integer("classes");
  const Dim& given = rule.dim(1, 0);
  if (classes < 1 || (given.is_static() && given.size() != classes && !(given.size() == 1 && classes == 2)))
    return invalid_argument("{} has {} rows, which do not fit {} classes", rule.describe(1), given.to_string(),
                            classes);
  return std::vector<TensorType>{{DType::i64, Shape({rows})}, {DType::f32, Shape({rows, Dim(classes)})}};
}

DType dtype_of(const InferContext&, size_t) {
  return DType::f32;
}
DType class_dtype(const InferContext&, size_t output) {
  return output == 0 ? DType::i64 : DType::f32;
}

// x . coefficients^T + intercepts, one row of `targets` scores a row of x.
std::vector<double> score(const EvalContext& ctx, int64_t rows) {
  const Elements<double> x = load<double>(ctx.inputs[0]), w = load<double>(ctx.inputs[1]);
  const bool has_bias = ctx.inputs[2].data != nullptr;
  const Elements<double> bias = has_bias ? load<double>(ctx.inputs[2]) : Elements<double>();
  const int64_t targets = ctx.inputs[1].sizes[0], features = ctx.inputs[1].sizes[1];
  std::vector<double> scores;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t t = 0; t < targets; ++t) {
      double sum = has_bias ? bias[t] : 0;
      for (int64_t f = 0; f < features; ++f) sum += x[r * features + f] * w[t * features + f];
      scores.push_back(sum);
    }
  return scores;
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const PostTransform post, read_post_transform(ctx.attrs));
  const int64_t rows = ctx.outputs[0].sizes[0];
  const size_t targets = static_cast<size_t>(ctx.outputs[0].sizes[1]);
  std::vector<double> scores = score(ctx, rows);
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r)
    if (targets > 1 || post == PostTransform::kProbit)
      transform_scores(post, std::span(scores).subspan(r * targets, targets));
  return store<double>(ctx.outputs[0], std::span<const double>(scores));
}

Status evaluate_class(const EvalContext& ctx) {
  NEREID_TRY(const PostTransform post, read_post_transform(ctx.attrs));
  const int64_t rows = ctx.outputs[0].sizes[0], classes = ctx.attrs.integer("classes");
  const size_t targets = static_cast<size_t>(ctx.inputs[1].sizes[0]);
  std::vector<double> scores = score(ctx, rows);
  Elements<double> results(rows * classes);
  Elements<int64_t> winners(rows);
  for (int64_t r = 0; r < rows; ++r) {
    std::span<double> row = std::span(scores).subspan(static_cast<size_t>(r) * targets, targets);
    std::vector<double> both;
    if (targets == 1 && classes == 2) {
      winners[r] = row[0] > 0 ? 1 : 0;
      both = both_classes(post, row[0], true);
      row = both;
    } else {
      winners[r] = first_largest(row);
      transform_scores(post, row);
    }
    std::ranges::copy(row, results.data() + r * classes);
  }
  NEREID_RETURN_IF_ERROR(store<int64_t>(ctx.outputs[0], winners));
  return store<double>(ctx.outputs[1], results);
}

}  // namespace

extern constexpr OpDef kLinearClassifier = {
    .name = "linear_classifier",
    .summary = "class = the largest of coefficients . x + intercepts; scores = those, transformed",
    .inputs = kInputs,
    .outputs = kClassOutputs,
    .attrs = kClassAttrs,
    .infer = infer_class,
    .evaluate = evaluate_class,
    .cost = cost_per_element<2>,
    .dtype_of = class_dtype};
extern constexpr OpDef kLinearRegressor = {.name = "linear_regressor",
                                           .summary = "y = transform(coefficients . x + intercepts)",
                                           .inputs = kInputs,
                                           .outputs = kOutputs,
                                           .attrs = kAttrs,
                                           .infer = infer,
                                           .evaluate = evaluate,
                                           .cost = cost_per_element<2>,
                                           .dtype_of = dtype_of};

}  // namespace nereid::ops
