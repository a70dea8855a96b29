// SPDX-License-Identifier: Apache-2.0
// linear: rows of x times the transpose of a weight matrix, with the norm before, the activation and the residual after
// built in.
#include "ops/activation.h"
#include "ops/normalize.h"
#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/product.h"
#include "ops/shape_rule.h"

namespace nereid::ops {

Status for_each_product(std::span<const float> x, const ConstTensorView& w,
                        const std::function<void(int64_t, int64_t, double)>& emit) {
  const size_t k = static_cast<size_t>(w.row_elements());
  const int64_t tokens = k == 0 ? 0 : static_cast<int64_t>(x.size() / k);
  std::vector<float> row(k);
  for (int64_t n = 0; n < w.rows(); ++n) {
    NEREID_RETURN_IF_ERROR(read_row(w, n, row));
    for (int64_t t = 0; t < tokens; ++t) {
      const float* xt = x.data() + static_cast<size_t>(t) * k;
      double sum = 0;
      for (size_t i = 0; i < k; ++i) sum += static_cast<double>(xt[i]) * row[i];
      emit(t, n, sum);
    }
  }
  return Status::ok();
}

namespace {

enum : size_t { kX, kWeight, kBias, kResidual, kNormWeight };
constexpr ArgSpec kInputs[] = {{.name = "x"},
                               {.name = "w"},
                               {.name = "bias", .optional = true},
                               {.name = "residual", .optional = true},
                               {.name = "norm_weight", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"activation", AttrSpec::Kind::kString, "none",
     "what sums with their bias go through: none, silu, gelu, gelu_tanh, relu, sigmoid, tanh"},
    {"norm_eps", AttrSpec::Kind::kFloat, "1e-05", "rms_norm's eps; used when norm_weight is given"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (ctx.attrs.text("activation") != "none") NEREID_RETURN_IF_ERROR(find_activation(ctx.attrs.text("activation")));
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  NEREID_RETURN_IF_ERROR(rule.is_weight(kWeight));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kWeight, 2));
  NEREID_RETURN_IF_ERROR(rule.agree(kX, -1, kWeight, 1));
  std::vector<Dim> dims = rule.shape(kX).dims();
  dims.back() = rule.dim(kWeight, 0);
  TensorType y{rule.type(kX).dtype, Shape(std::move(dims))};
  if (rule.has(kBias)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kBias));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kBias, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kWeight, 0, kBias, 0));
  }
  if (rule.has(kResidual)) {
    auto shape = broadcast(rule.shape(kResidual), y.shape);
    if (rule.type(kResidual).dtype != y.dtype || rule.rank(kResidual) != y.shape.rank() || !shape)
      return invalid_argument("{} should have the type of the result, {}", rule.describe(kResidual), y.to_string());
    NEREID_RETURN_IF_ERROR(rule.agree(kResidual, -1, kWeight, 0));
    for (int d = 0; d + 1 < rule.rank(kX); ++d) NEREID_RETURN_IF_ERROR(rule.agree(kResidual, d, kX, d));
  }
  if (rule.has(kNormWeight)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kNormWeight));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kNormWeight, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kX, -1, kNormWeight, 0));
  }
  return std::vector<TensorType>{std::move(y)};
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(auto x, read_floats(ctx.inputs[kX]));
  NEREID_TRY(auto bias, read_floats(ctx.inputs[kBias]));
  NEREID_TRY(auto residual, read_floats(ctx.inputs[kResidual]));
  NEREID_TRY(auto norm, read_floats(ctx.inputs[kNormWeight]));
  const size_t k = static_cast<size_t>(ctx.inputs[kX].row_elements());
  for (size_t first = 0; first < x.size() && !norm.empty(); first += k)
    rms_normalize(std::span(x).subspan(first, k), norm, ctx.attrs.real("norm_eps"));
  const Activation* activation = nullptr;
  if (ctx.attrs.text("activation") != "none") {
    NEREID_TRY(activation, find_activation(ctx.attrs.text("activation")));
  }
  const int64_t width = ctx.outputs[0].row_elements();
  return for_each_product(x, ctx.inputs[kWeight], [&](int64_t t, int64_t n, double y) {
    if (!bias.empty()) y += bias[static_cast<size_t>(n)];
    if (activation != nullptr) y = activation->function(y);
    if (!residual.empty()) y += residual[static_cast<size_t>(t * width + n)];
    write_float(ctx.outputs[0], t * width + n, static_cast<float>(y));
  });
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Dim& k = ctx.inputs[kWeight]->shape[1];
  c.flops = 2 * elements_of(outputs[0]) * static_cast<double>(k.is_static() ? k.size() : 1);
  if (ctx.inputs[kNormWeight] != nullptr) c.flops += 4 * elements_of(*ctx.inputs[kX]);
  return c;
}

}  // namespace

extern constexpr OpDef kLinear = {
    .name = "linear",
    .summary = "y = activation(rms_norm?(x) . w^T + bias) + residual; the norm applies when norm_weight is given",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost};

}  // namespace nereid::ops
