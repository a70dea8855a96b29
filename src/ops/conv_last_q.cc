// SPDX-License-Identifier: Apache-2.0
// conv_last_q: conv_last on 8-bit codes with int8 weights. Padding stands for the number 0.
#include "ops/channels_last.h"
#include "ops/quantized_layer.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    kEpilogueActivation,
    kEpilogueAlpha,
    {"auto_pad", AttrSpec::Kind::kString, "NOTSET", "NOTSET (pads), SAME_UPPER, SAME_LOWER or VALID"},
    kEpilogueBeta,
    {"dilations", AttrSpec::Kind::kInts, "[]", "distance of taps, one a spatial axis; empty: 1"},
    {"group", AttrSpec::Kind::kInt, "1", "groups of channels that do not mix"},
    {"kernel_shape", AttrSpec::Kind::kInts, "[]", "spatial sizes of w; empty: as w has them"},
    {"pads", AttrSpec::Kind::kInts, "[]", "padding: all begins, then all ends; empty: 0"},
    kEpilogueResidualLast,
    kQuantizedScale,
    kQuantizedShift,
    {"strides", AttrSpec::Kind::kInts, "[]", "steps, one a spatial axis; empty: 1"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kQuantizedLayerInputs);
  TensorType x = rule.type(kQX), w = rule.type(kQW);
  x.dtype = w.dtype = DType::f32;
  const TensorType* types[] = {&x, &w, nullptr};
  const ConstTensorView* constants[] = {nullptr, nullptr, nullptr};
  NEREID_TRY(auto results, infer_as("conv", {.inputs = types, .constants = constants, .attrs = ctx.attrs}, 3));
  NEREID_TRY(results[0], quantized_layer_type(ctx, rule, std::move(results[0].shape)));
  return results;
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView &x = ctx.inputs[kQX], &w = ctx.inputs[kQW];
  NEREID_TRY(Tensor codes, Tensor::zeros(DType::f64, x.sizes));
  NEREID_RETURN_IF_ERROR(store<double>(codes.view(), centred_codes(x, ctx.inputs[kQXZero])));
  NEREID_TRY(Tensor weights, Tensor::zeros(DType::f64, w.sizes));
  NEREID_RETURN_IF_ERROR(store<double>(weights.view(), load<double>(w)));
  const ConstTensorView views[] = {std::as_const(codes).view(), std::as_const(weights).view(), {}};
  NEREID_TRY(const Tensor y, run_as("conv", {.inputs = views, .outputs = {}, .states = {}, .attrs = ctx.attrs}, 3));
  Elements<double> sums = load<double>(y.view());
  return finish_quantized_layer(ctx, sums);
}

// Each weight but those of the other output channels is used once for each element of the result.
Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  double work = 2;
  const Shape& w = ctx.inputs[kQW]->shape;
  for (int d = 1; d < w.rank(); ++d) work *= w[d].is_static() ? static_cast<double>(w[d].size()) : 1;
  c.flops = work * elements_of(outputs[0]);
  return c;
}

}  // namespace

extern constexpr OpDef kConvLastQ = {
    .name = "conv_last_q",
    .summary = "y = activation(conv of (x - x_zero), w [N, spatial..., C] * x_scale * w_scale + bias + residual)",
    .inputs = kQuantizedLayerInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost,
    .dtype_of = quantized_layer_dtype};

}  // namespace nereid::ops
