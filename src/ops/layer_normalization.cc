// SPDX-License-Identifier: Apache-2.0
// layer_normalization (Ba, Kiros, Hinton 2016) and rms_normalization (Zhang, Sennrich 2019) over the last dimensions
// from an axis on. Unlike layer_norm and rms_norm of language models, scale and bias broadcast, types may differ and
// the statistics may be wanted.
#include <cmath>

#include "ops/elements.h"
#include "ops/normalization.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kScale, kBias };
constexpr ArgSpec kLayerInputs[] = {{.name = "x"}, {.name = "scale"}, {.name = "bias", .optional = true}};
constexpr ArgSpec kRmsInputs[] = {{.name = "x"}, {.name = "scale"}};
// The statistics, if wanted: mean and inverse deviation, or the inverse root of the mean square.
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "statistics", .variadic = true}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "-1", "the first of the dimensions that are normalised together"},
    {"epsilon", AttrSpec::Kind::kFloat, "1e-05", "added to the variance or mean square"},
    {"stash_type", AttrSpec::Kind::kInt, "1",
     "ONNX's number of the type of the statistics: 1 f32, 10 f16, 11 f64, 16 bf16"},
    {"statistics", AttrSpec::Kind::kBool, "false", "whether the results after the first are made"}};

Result<DType> stash_type(const Attrs& attrs) {
  switch (attrs.integer("stash_type")) {
    case 1:
      return DType::f32;
    case 10:
      return DType::f16;
    case 11:
      return DType::f64;
    case 16:
      return DType::bf16;
    default:
      return invalid_argument("stash_type is {} and should be 1, 10, 11 or 16", attrs.integer("stash_type"));
  }
}

// Whether the shape of input i broadcasts to that of x without making it larger.
Status broadcasts_to_x(const ShapeRule& rule, size_t i) {
  bool fits = rule.rank(i) <= rule.rank(kX);
  for (int d = 1; fits && d <= rule.rank(i); ++d)
    fits = rule.dim(i, -d) == Dim(1) || merge(rule.dim(i, -d), rule.dim(kX, -d)).has_value();
  return fits ? Status::ok() : invalid_argument("{} does not broadcast to {}", rule.describe(i), rule.describe(kX));
}

template <bool Rms>
Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kLayerInputs);
  const int64_t axis = ctx.attrs.integer("axis");
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, axis));
  for (size_t i : {kX, kScale, kBias}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    if (i != kX) NEREID_RETURN_IF_ERROR(broadcasts_to_x(rule, i));
  }
  TensorType y = rule.type(kX);
  if (Rms) y.dtype = rule.type(kScale).dtype;
  if (!ctx.attrs.boolean("statistics")) return std::vector<TensorType>{y};
  NEREID_TRY(const DType stash, stash_type(ctx.attrs));
  TensorType statistic{stash, y.shape};
  for (int64_t d = axis < 0 ? axis + rule.rank(kX) : axis; d < rule.rank(kX); ++d)
    statistic.shape[static_cast<int>(d)] = Dim(1);
  std::vector<TensorType> results{y, statistic};
  if (!Rms) results.push_back(statistic);
  return results;
}

template <bool Rms>
DType dtype_of(const InferContext& ctx, size_t output) {
  if (output > 0) {
    const auto stash = stash_type(ctx.attrs);
    return stash.is_ok() ? *stash : DType::f32;
  }
  const TensorType* type = ctx.inputs[Rms ? kScale : kX];
  return type != nullptr ? type->dtype : DType::f32;
}

// Element i of x belongs to which element of a tensor that broadcasts to x.
class BroadcastIndex {
 public:
  BroadcastIndex(const std::vector<int64_t>& x, const std::vector<int64_t>& y) : sizes_(x), steps_(x.size(), 0) {
    int64_t stride = 1;
    for (size_t i = 1; i <= y.size(); ++i) {
      if (y[y.size() - i] != 1) steps_[x.size() - i] = stride;
      stride *= y[y.size() - i];
    }
  }
  int64_t operator()(int64_t i) const {
    int64_t at = 0;
    for (size_t d = sizes_.size(); d-- > 0; i /= sizes_[d]) at += i % sizes_[d] * steps_[d];
    return at;
  }

 private:
  std::vector<int64_t> sizes_, steps_;
};

template <bool Rms>
Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& view = ctx.inputs[kX];
  Elements<double> x = load<double>(view);
  const AxisSteps steps = axis_steps(view.sizes, ctx.attrs.integer("axis"));
  const int64_t size = steps.size * steps.inner;
  Elements<double> means(steps.outer), factors(steps.outer);
  for (int64_t row = 0; row < steps.outer; ++row) {
    Moments m;
    double* first = x.data() + row * size;
    if (Rms) {
      for (int64_t i = 0; i < size; ++i) m.variance += first[i] * first[i] / static_cast<double>(size);
    } else {
      m = moments(first, size);
    }
    means[row] = m.mean;
    factors[row] = 1 / std::sqrt(m.variance + ctx.attrs.real("epsilon"));
    for (int64_t i = 0; i < size; ++i) first[i] = (first[i] - m.mean) * factors[row];
  }
  const Elements<double> scale = load<double>(ctx.inputs[kScale]);
  const BroadcastIndex scale_of(view.sizes, ctx.inputs[kScale].sizes);
  for (int64_t i = 0; i < x.size(); ++i) x[i] *= scale[scale_of(i)];
  if (!Rms && ctx.inputs[kBias].data != nullptr) {
    const Elements<double> bias = load<double>(ctx.inputs[kBias]);
    const BroadcastIndex bias_of(view.sizes, ctx.inputs[kBias].sizes);
    for (int64_t i = 0; i < x.size(); ++i) x[i] += bias[bias_of(i)];
  }
  if (ctx.attrs.boolean("statistics")) {
    NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[1], Rms ? factors : means));
    if (!Rms) NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[2], factors));
  }
  return store<double>(ctx.outputs[0], x);
}

}  // namespace

extern constexpr OpDef kLayerNormalization = {
    .name = "layer_normalization",
    .summary = "y = (x - mean) / sqrt(variance + epsilon) * scale + bias over the dimensions from the axis on",
    .inputs = kLayerInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer<false>,
    .evaluate = evaluate<false>,
    .cost = cost_per_element<8>,
    .dtype_of = dtype_of<false>};

extern constexpr OpDef kRmsNormalization = {
    .name = "rms_normalization",
    .summary = "y = x / sqrt(mean of x^2 + epsilon) * scale over the dimensions from the axis on",
    .inputs = kRmsInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer<true>,
    .evaluate = evaluate<true>,
    .cost = cost_per_element<4>,
    .dtype_of = dtype_of<true>};

}  // namespace nereid::ops
