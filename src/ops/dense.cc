// SPDX-License-Identifier: Apache-2.0
// dense: a product with a weight, with bias, residual and activation built in: what lowering makes of matmul and gemm.
#include "ops/epilogue.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kW, kBias, kResidual };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "w"}, {.name = "bias", .optional = true}, {.name = "residual", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    kEpilogueActivation,   kEpilogueAlpha,
    kEpilogueBeta,         kEpiloguePrecision,
    kEpilogueResidualLast, kEpilogueScale,
    kEpilogueShift,        {"transposed", AttrSpec::Kind::kBool, "false", "w is [N, K]; else [K, N]"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const bool transposed = ctx.attrs.boolean("transposed");
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kW, 2));
  NEREID_RETURN_IF_ERROR(rule.agree(kX, -1, kW, transposed ? 1 : 0));
  for (size_t i : {kW, kBias})
    if (rule.has(i) && rule.type(i).dtype != rule.type(kX).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(kX), rule.describe(i));
  if (rule.has(kBias)) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(kBias, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kBias, 0, kW, transposed ? 0 : 1));
  }
  TensorType y = rule.type(kX);
  y.shape[y.shape.rank() - 1] = rule.dim(kW, transposed ? 0 : 1);
  NEREID_RETURN_IF_ERROR(check_epilogue(ctx, rule, kResidual, y));
  return std::vector<TensorType>{std::move(y)};
}

Status evaluate(const EvalContext& ctx) {
  const bool transposed = ctx.attrs.boolean("transposed");
  const Elements<double> x = load<double>(ctx.inputs[kX]), w = load<double>(ctx.inputs[kW]);
  const int64_t n = ctx.outputs[0].sizes.back(), k = ctx.inputs[kX].sizes.back();
  Elements<double> y(ctx.outputs[0].elements());
  const int64_t rows = n == 0 ? 0 : y.size() / n;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < k; ++i) {
      const double factor = x[r * k + i];
      double* sums = y.data() + r * n;
      if (transposed) {
        for (int64_t c = 0; c < n; ++c) sums[c] += factor * w[c * k + i];
      } else {
        const double* row = w.data() + i * n;
        for (int64_t c = 0; c < n; ++c) sums[c] += factor * row[c];
      }
    }
  NEREID_RETURN_IF_ERROR(apply_epilogue(ctx.attrs, ctx.inputs[kBias], ctx.inputs[kResidual], y, n));
  return store<double>(ctx.outputs[0], y);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Dim& k = ctx.inputs[kX]->shape[ctx.inputs[kX]->shape.rank() - 1];
  c.flops = 2 * elements_of(outputs[0]) * (k.is_static() ? static_cast<double>(k.size()) : 1);
  return c;
}

}  // namespace

extern constexpr OpDef kDense = {.name = "dense",
                                 .summary = "y = scale activation(x . w + bias + residual) + shift",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = kAttrs,
                                 .infer = infer,
                                 .evaluate = evaluate,
                                 .cost = cost};

}  // namespace nereid::ops
