// SPDX-License-Identifier: Apache-2.0
// dense_q: dense on 8-bit codes with int8 weights: what lowering makes of a product between dequantising and
// quantising.
#include "ops/quantized_layer.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {kEpilogueActivation,
                               kEpilogueAlpha,
                               kEpilogueBeta,
                               kEpilogueResidualLast,
                               kQuantizedScale,
                               kQuantizedShift,
                               {"transposed", AttrSpec::Kind::kBool, "false", "w is [N, K]; else [K, N]"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kQuantizedLayerInputs);
  const bool transposed = ctx.attrs.boolean("transposed");
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kQX, 1));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kQW, 2));
  NEREID_RETURN_IF_ERROR(rule.agree(kQX, -1, kQW, transposed ? 1 : 0));
  Shape shape = rule.shape(kQX);
  shape[shape.rank() - 1] = rule.dim(kQW, transposed ? 0 : 1);
  NEREID_TRY(TensorType y, quantized_layer_type(ctx, rule, std::move(shape)));
  return std::vector<TensorType>{std::move(y)};
}

Status evaluate(const EvalContext& ctx) {
  const bool transposed = ctx.attrs.boolean("transposed");
  const Elements<double> x = centred_codes(ctx.inputs[kQX], ctx.inputs[kQXZero]), w = load<double>(ctx.inputs[kQW]);
  const int64_t n = ctx.outputs[0].sizes.back(), k = ctx.inputs[kQX].sizes.back();
  Elements<double> sums(ctx.outputs[0].elements());
  const int64_t rows = n == 0 ? 0 : sums.size() / n;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < k; ++i)
      for (int64_t c = 0; c < n; ++c) sums[r * n + c] += x[r * k + i] * w[transposed ? c * k + i : i * n + c];
  return finish_quantized_layer(ctx, sums);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Shape& x = ctx.inputs[kQX]->shape;
  const Dim& k = x[x.rank() - 1];
  c.flops = 2 * elements_of(outputs[0]) * (k.is_static() ? static_cast<double>(k.size()) : 1);
  return c;
}

}  // namespace

extern constexpr OpDef kDenseQ = {
    .name = "dense_q",
    .summary = "y = activation((x - x_zero) . w * x_scale * w_scale + bias + residual), as f32 or as codes",
    .inputs = kQuantizedLayerInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost,
    .dtype_of = quantized_layer_dtype};

}  // namespace nereid::ops
