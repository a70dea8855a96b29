// SPDX-License-Identifier: Apache-2.0
// conv: convolution in any number of spatial dimensions, with groups, strides, dilations and padding.
#include "ops/conv_loop.h"
#include "ops/convolution.h"
#include "ops/elements.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "w"}, {.name = "bias", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(is_image(rule.type(0), "x"));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, rule.rank(0)));
  if (rule.type(1).dtype != rule.type(0).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(1));
  NEREID_TRY(const int64_t group, conv_group(ctx));
  NEREID_RETURN_IF_ERROR(check_conv_channels(rule, 0, 1, group));
  if (rule.has(2)) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(2, 0, 1, 0));
    if (rule.type(2).dtype != rule.type(0).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(2));
  }
  NEREID_TRY(const std::vector<int64_t> kernel, conv_kernel(ctx, rule, 1));
  NEREID_TRY(Shape y, conv_shape(ctx, rule.shape(0), rule.dim(1, 0), kernel));
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(y)}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView &x = ctx.inputs[0], &w = ctx.inputs[1], &bias = ctx.inputs[2];
  NEREID_TRY(Windows windows, read_windows(ctx.attrs, std::span(w.sizes).subspan(2)));
  NEREID_RETURN_IF_ERROR(fit_image(windows, x.sizes));
  const int64_t group = ctx.attrs.integer("group");
  const ConvSizes sizes{.batch = x.sizes[0],
                        .groups = group,
                        .in_channels = w.sizes[1],
                        .out_channels = w.sizes[0] / group,
                        .axes = windows.axes};
  return with_float(x.dtype, [&]<typename T>() {
    const Elements<T> xs = load<T>(x), ws = load<T>(w);
    const Elements<T> bs = bias.data != nullptr ? load<T>(bias) : Elements<T>();
    Elements<T> y(ctx.outputs[0].elements());
    convolve<T>(sizes, xs.data(), ws.data(), bs.data(), y.data());
    return store<T>(ctx.outputs[0], y);
  });
}

}  // namespace

extern constexpr OpDef kConv = {.name = "conv",
                                .summary =
                                    "y[n, m, o] = bias[m] + sum over c, k of w[m, c, k] x[n, c, o * stride + k * "
                                    "dilation - pad]",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = kConvAttrs,
                                .infer = infer,
                                .evaluate = evaluate,
                                .cost = conv_cost};

}  // namespace nereid::ops
