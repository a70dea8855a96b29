// SPDX-License-Identifier: Apache-2.0
// What classical pipelines do to features before a model sees them: binarizer, feature_vectorizer, imputer, normalizer,
// one_hot_encoder, scaler.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Status is_feature(const ShapeRule& rule, size_t i) {
  if (is_float(rule.type(i).dtype) || is_integer(rule.type(i).dtype)) return Status::ok();
  return invalid_argument("{} should be a float or integer type", rule.describe(i));
}

// One number a feature (an entry of the last dimension), or one for all.
Status one_a_feature(const ShapeRule& rule, size_t count, std::string_view what) {
  if (count == 1) return Status::ok();
  if (rule.rank(0) == 0 || !merge(rule.dim(0, -1), Dim(static_cast<int64_t>(count))))
    return invalid_argument("{} has {} entries, but {} should have one a feature or one for all", what, count,
                            rule.describe(0));
  return Status::ok();
}

DType dtype_f32(const InferContext&, size_t) {
  return DType::f32;
}

constexpr AttrSpec kBinarizerAttrs[] = {{"threshold", AttrSpec::Kind::kFloat, "0.0", "what a 1 must be greater than"}};

Result<std::vector<TensorType>> infer_binarizer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_feature(rule, 0));
  return std::vector<TensorType>{rule.type(0)};
}

Status evaluate_binarizer(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[0]);
  // The attribute is a float of 32 bits: compared as such.
  const auto threshold = static_cast<double>(static_cast<float>(ctx.attrs.real("threshold")));
  for (double& v : x) v = v > threshold ? 1 : 0;
  return store<double>(ctx.outputs[0], x);
}

constexpr ArgSpec kVectorizerInputs[] = {{.name = "x", .variadic = true}};
constexpr AttrSpec kVectorizerAttrs[] = {
    {"inputdimensions", AttrSpec::Kind::kInts, "[]", "how many features each x gives; empty: as many as it has"}};

Result<std::vector<TensorType>> infer_vectorizer(const InferContext& ctx) {
  ShapeRule rule(ctx, kVectorizerInputs);
  const std::vector<int64_t>& wanted = ctx.attrs.integers("inputdimensions");
  if (ctx.inputs.empty()) return invalid_argument("there is nothing to join");
  if (!wanted.empty() && wanted.size() != ctx.inputs.size())
    return invalid_argument("inputdimensions has {} entries for {} inputs", wanted.size(), ctx.inputs.size());
  Dim rows = Dim::unknown();
  int64_t columns = 0;
  bool known = true;
  for (size_t i = 0; i < ctx.inputs.size(); ++i) {
    NEREID_RETURN_IF_ERROR(is_feature(rule, i));
    if (rule.rank(i) != 1) NEREID_RETURN_IF_ERROR(rule.has_rank(i, 2));
    const auto agreed = merge(rows, rule.rank(i) == 1 ? Dim(1) : rule.dim(i, 0));
    if (!agreed) return invalid_argument("{} should have {} rows like the others", rule.describe(i), rows.to_string());
    rows = *agreed;
    const Dim size = wanted.empty() ? rule.dim(i, -1) : Dim(wanted[i]);
    known = known && size.is_static();
    if (size.is_static() && (size.size() < 0 || __builtin_add_overflow(columns, size.size(), &columns)))
      return invalid_argument("inputdimensions holds {}, which is no size", size.size());
  }
  return std::vector<TensorType>{{DType::f32, Shape{rows, known ? Dim(columns) : Dim::unknown()}}};
}

Status evaluate_vectorizer(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  const std::vector<int64_t>& wanted = ctx.attrs.integers("inputdimensions");
  Elements<float> out(y.elements(), 0.0F);
  int64_t first = 0;
  for (size_t i = 0; i < ctx.inputs.size() && out.size() > 0; ++i) {
    const Elements<float> x = load<float>(ctx.inputs[i]);
    const int64_t have = ctx.inputs[i].row_elements();
    const int64_t want = wanted.empty() ? have : wanted[i];
    for (int64_t row = 0; row < y.sizes[0]; ++row)
      for (int64_t j = 0; j < std::min(have, want); ++j) out[row * y.sizes[1] + first + j] = x[row * have + j];
    first += want;
  }
  return store<float>(y, out);
}

constexpr AttrSpec kImputerAttrs[] = {
    {"imputed_value_floats", AttrSpec::Kind::kFloats, "[]", "of floats: what is put in, one a feature or one for all"},
    {"imputed_value_int64s", AttrSpec::Kind::kInts, "[]", "of integers: what is put in, one a feature or one for all"},
    {"replaced_value_float", AttrSpec::Kind::kFloat, "0.0", "of floats: what is replaced; nan too"},
    {"replaced_value_int64", AttrSpec::Kind::kInt, "0", "of integers: what is replaced"}};

Result<std::vector<TensorType>> infer_imputer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_feature(rule, 0));
  const bool real = is_float(rule.type(0).dtype);
  const std::string_view name = real ? "imputed_value_floats" : "imputed_value_int64s";
  const size_t count = real ? ctx.attrs.reals(name).size() : ctx.attrs.integers(name).size();
  NEREID_RETURN_IF_ERROR(one_a_feature(rule, count, name));
  return std::vector<TensorType>{rule.type(0)};
}

template <typename T, typename V>
Status impute(const EvalContext& ctx, const std::vector<V>& imputed, auto&& is_replaced) {
  Elements<T> x = load<T>(ctx.inputs[0]);
  for (int64_t i = 0; i < x.size(); ++i)
    if (is_replaced(x[i])) x[i] = static_cast<T>(imputed[static_cast<size_t>(i) % imputed.size()]);
  return store<T>(ctx.outputs[0], x);
}

Status evaluate_imputer(const EvalContext& ctx) {
  if (ctx.inputs[0].elements() == 0) return Status::ok();
  if (is_float(ctx.inputs[0].dtype)) {
    const double replaced = ctx.attrs.real("replaced_value_float");
    return impute<double>(ctx, ctx.attrs.reals("imputed_value_floats"), [&](double v) {
      return std::isnan(replaced) ? std::isnan(v) : static_cast<float>(v) == static_cast<float>(replaced);
    });
  }
  const int64_t replaced = ctx.attrs.integer("replaced_value_int64");
  return impute<int64_t>(ctx, ctx.attrs.integers("imputed_value_int64s"), [&](int64_t v) { return v == replaced; });
}

constexpr AttrSpec kNormalizerAttrs[] = {{"norm", AttrSpec::Kind::kString, "MAX",
                                          "a row's divisor: MAX: its largest; L1: sum of sizes; L2: root of squares"}};

Result<std::vector<TensorType>> infer_normalizer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_feature(rule, 0));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(0, 1));
  const std::string& norm = ctx.attrs.text("norm");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    return invalid_argument("norm is '{}' and should be MAX, L1 or L2", norm);
  return std::vector<TensorType>{{DType::f32, rule.shape(0)}};
}

Status evaluate_normalizer(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[0]);
  const int64_t columns = ctx.inputs[0].row_elements();
  const std::string& norm = ctx.attrs.text("norm");
  for (int64_t row = 0; row < ctx.inputs[0].rows(); ++row) {
    double* values = x.data() + row * columns;
    double divisor = norm == "MAX" ? values[0] : 0;
    for (int64_t i = 0; i < columns; ++i) {
      if (norm == "MAX") divisor = std::max(divisor, values[i]);
      if (norm == "L1") divisor += std::abs(values[i]);
      if (norm == "L2") divisor += values[i] * values[i];
    }
    if (norm == "L2") divisor = std::sqrt(divisor);
    for (int64_t i = 0; i < columns && divisor != 0; ++i) values[i] /= divisor;
  }
  return store<double>(ctx.outputs[0], x);
}

constexpr AttrSpec kOneHotAttrs[] = {
    {"cats_int64s", AttrSpec::Kind::kInts, "[]", "the categories, of numbers"},
    {"cats_strings", AttrSpec::Kind::kStrings, "[]", "the categories, of texts"},
    {"zeros", AttrSpec::Kind::kBool, "true", "what is in no category gives zeros, else it is refused"}};

Result<std::vector<TensorType>> infer_one_hot(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const bool words = rule.type(0).dtype == DType::string;
  if (!words) NEREID_RETURN_IF_ERROR(is_feature(rule, 0));
  const size_t count = words ? ctx.attrs.texts("cats_strings").size() : ctx.attrs.integers("cats_int64s").size();
  if (count == 0)
    return invalid_argument("{} should come with {}", rule.describe(0), words ? "cats_strings" : "cats_int64s");
  std::vector<Dim> dims = rule.shape(0).dims();
  dims.emplace_back(static_cast<int64_t>(count));
  return std::vector<TensorType>{{DType::f32, Shape(std::move(dims))}};
}

template <typename T>
Status encode(const EvalContext& ctx, const T* x, const std::vector<T>& categories) {
  std::map<T, int64_t> places;
  for (size_t i = 0; i < categories.size(); ++i) places.emplace(categories[i], static_cast<int64_t>(i));
  const auto n = static_cast<int64_t>(categories.size());
  Elements<float> y(ctx.outputs[0].elements(), 0.0F);
  for (int64_t i = 0; i < ctx.inputs[0].elements(); ++i) {
    const auto found = places.find(x[i]);
    if (found != places.end()) {
      y[i * n + found->second] = 1;
    } else if (!ctx.attrs.boolean("zeros")) {
      return invalid_argument("x[{}] is {}, which is in no category", i, x[i]);
    }
  }
  return store<float>(ctx.outputs[0], y);
}

Status evaluate_one_hot(const EvalContext& ctx) {
  if (ctx.inputs[0].dtype == DType::string)
    return encode<std::string>(ctx, ctx.inputs[0].as<std::string>(), ctx.attrs.texts("cats_strings"));
  const Elements<int64_t> x = load<int64_t>(ctx.inputs[0]);
  return encode<int64_t>(ctx, x.data(), ctx.attrs.integers("cats_int64s"));
}

constexpr AttrSpec kScalerAttrs[] = {
    {"offset", AttrSpec::Kind::kFloats, "[]", "what is taken away first, one a feature or one for all; empty: 0"},
    {"scale", AttrSpec::Kind::kFloats, "[]", "the factor after that, one a feature or one for all; empty: 1"}};

Result<std::vector<TensorType>> infer_scaler(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_feature(rule, 0));
  for (std::string_view name : {"offset", "scale"})
    if (!ctx.attrs.reals(name).empty()) NEREID_RETURN_IF_ERROR(one_a_feature(rule, ctx.attrs.reals(name).size(), name));
  return std::vector<TensorType>{{DType::f32, rule.shape(0)}};
}

Status evaluate_scaler(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[0]);
  const std::vector<double>& offset = ctx.attrs.reals("offset");
  const std::vector<double>& scale = ctx.attrs.reals("scale");
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (!offset.empty()) x[i] -= offset[at % offset.size()];
    if (!scale.empty()) x[i] *= scale[at % scale.size()];
  }
  return store<double>(ctx.outputs[0], x);
}

}  // namespace

extern constexpr OpDef kBinarizer = {.name = "binarizer",
                                     .summary = "y = x > threshold ? 1 : 0",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attrs = kBinarizerAttrs,
                                     .infer = infer_binarizer,
                                     .evaluate = evaluate_binarizer,
                                     .cost = cost_per_element<1>};

extern constexpr OpDef kFeatureVectorizer = {.name = "feature_vectorizer",
                                             .summary = "the features of all x side by side as f32",
                                             .inputs = kVectorizerInputs,
                                             .outputs = kOutputs,
                                             .attrs = kVectorizerAttrs,
                                             .infer = infer_vectorizer,
                                             .evaluate = evaluate_vectorizer,
                                             .cost = cost_per_element<1>,
                                             .dtype_of = dtype_f32};

extern constexpr OpDef kImputer = {.name = "imputer",
                                   .summary = "y = x == replaced_value ? imputed_value : x",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kImputerAttrs,
                                   .infer = infer_imputer,
                                   .evaluate = evaluate_imputer,
                                   .cost = cost_per_element<1>};

extern constexpr OpDef kNormalizer = {.name = "normalizer",
                                      .summary = "y = x divided by its row's norm, as f32; by nothing if that is 0",
                                      .inputs = kInputs,
                                      .outputs = kOutputs,
                                      .attrs = kNormalizerAttrs,
                                      .infer = infer_normalizer,
                                      .evaluate = evaluate_normalizer,
                                      .cost = cost_per_element<3>,
                                      .dtype_of = dtype_f32};

extern constexpr OpDef kOneHotEncoder = {.name = "one_hot_encoder",
                                         .summary = "y[..., i] = x[...] is category i ? 1 : 0",
                                         .inputs = kInputs,
                                         .outputs = kOutputs,
                                         .attrs = kOneHotAttrs,
                                         .infer = infer_one_hot,
                                         .evaluate = evaluate_one_hot,
                                         .cost = cost_per_element<1>,
                                         .dtype_of = dtype_f32};

extern constexpr OpDef kScaler = {.name = "scaler",
                                  .summary = "y = (x - offset) * scale, as f32",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kScalerAttrs,
                                  .infer = infer_scaler,
                                  .evaluate = evaluate_scaler,
                                  .cost = cost_per_element<2>,
                                  .dtype_of = dtype_f32};

}  // namespace nereid::ops
