// SPDX-License-Identifier: Apache-2.0
// qlinear_conv: convolution of quantised tensors, quantised again.
#include "ops/quantized_conv.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };
constexpr ArgSpec kInputs[] = {{.name = "x"},       {.name = "x_scale"},      {.name = "x_zero_point"},
                               {.name = "w"},       {.name = "w_scale"},      {.name = "w_zero_point"},
                               {.name = "y_scale"}, {.name = "y_zero_point"}, {.name = "bias", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

DType dtype_of(const InferContext& ctx, size_t) {
  return ctx.inputs[kYZero]->dtype;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(Shape shape, quantized_conv_shape(ctx, rule, kX, kW, kXZero, kWZero));
  for (size_t i : {kXScale, kWScale, kYScale}) NEREID_RETURN_IF_ERROR(rule.is_activation(i));
  NEREID_RETURN_IF_ERROR(is_byte(rule, kYZero));
  for (size_t i : {kXScale, kYScale, kYZero}) NEREID_RETURN_IF_ERROR(check_single(rule, i));
  if (!is_single(rule.shape(kWScale))) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(kWScale, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kWScale, 0, kW, 0));
  }
  if (rule.has(kBias)) {
    if (rule.type(kBias).dtype != DType::i32) return invalid_argument("{} should be i32", rule.describe(kBias));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kBias, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kBias, 0, kW, 0));
  }
  return std::vector<TensorType>{{rule.type(kYZero).dtype, std::move(shape)}};
}

// The sum, bias included, is exact (or wraps); it is scaled in f32 by one factor an output channel.
Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const Elements<uint32_t> sums, quantized_conv_sums(ctx, kX, kW, kXZero, kWZero));
  const TensorView& y = ctx.outputs[0];
  const float x_scale = load<float>(ctx.inputs[kXScale])[0];
  const float y_scale = load<float>(ctx.inputs[kYScale])[0];
  const auto zero = static_cast<double>(load<int64_t>(ctx.inputs[kYZero])[0]);
  const Elements<float> w_scale = load<float>(ctx.inputs[kWScale]);
  const bool has_bias = ctx.inputs[kBias].data != nullptr;
  const Elements<uint32_t> bias = has_bias ? load<uint32_t>(ctx.inputs[kBias]) : Elements<uint32_t>();
  const AxisSteps steps = axis_steps(y.sizes, 1);
  Elements<double> out(sums.size());
  for (int64_t i = 0; i < sums.size(); ++i) {
    const int64_t channel = i / steps.inner % steps.size;
    const uint32_t sum = sums[i] + (has_bias ? bias[channel] : 0u);
    const float factor = x_scale * w_scale[w_scale.size() == 1 ? 0 : channel] / y_scale;
    out[i] = quantize(y.dtype, static_cast<float>(static_cast<int32_t>(sum)) * factor, zero);
  }
  return store<double>(y, out);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  cost.flops = conv_flops(*ctx.inputs[kW], outputs[0]);
  return cost;
}

}  // namespace

extern constexpr OpDef kQlinearConv = {
    .name = "qlinear_conv",
    .summary =
        "y = (x - x_zero_point convolved with w - w_zero_point, + bias) * x_scale * w_scale / y_scale rounded, "
        "+ y_zero_point",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kConvAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost,
    .dtype_of = dtype_of};

}  // namespace nereid::ops
