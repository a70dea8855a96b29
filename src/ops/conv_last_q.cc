// SPDX-License-Identifier: Apache-2.0
// conv_last_q: conv_last on 8-bit codes with int8 weights. Padding stands for the number 0.
#include "ops/channels_last.h"
#include "ops/convolution.h"
#include "ops/quantized_layer.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {kEpilogueActivation,   kEpilogueAlpha,  kWindowAutoPad,   kEpilogueBeta,
                               kWindowDilations,      kConvGroup,      kConvKernelShape, kWindowPads,
                               kEpilogueResidualLast, kQuantizedScale, kQuantizedShift,  kWindowStrides};

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

}  // namespace

extern constexpr OpDef kConvLastQ = {
    .name = "conv_last_q",
    .summary = "y = activation(conv of (x - x_zero), w [N, spatial..., C] * x_scale * w_scale + bias + residual)",
    .inputs = kQuantizedLayerInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = conv_cost,
    .dtype_of = quantized_layer_dtype};

}  // namespace nereid::ops
