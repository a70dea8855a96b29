// SPDX-License-Identifier: Apache-2.0
#include "ops/quantized_conv.h"

#include "ops/conv_loop.h"

namespace nereid::ops {
namespace {

Status check_zero(const ShapeRule& rule, size_t zero, size_t of) {
  if (rule.has(zero) && rule.type(zero).dtype != rule.type(of).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(of), rule.describe(zero));
  return Status::ok();
}

}  // namespace

Result<Shape> quantized_conv_shape(const InferContext& ctx, const ShapeRule& rule, size_t x, size_t w, size_t x_zero,
                                   size_t w_zero) {
  for (size_t i : {x, w}) NEREID_RETURN_IF_ERROR(is_byte(rule, i));
  NEREID_RETURN_IF_ERROR(is_image(rule.type(x), "x"));
  NEREID_RETURN_IF_ERROR(rule.has_rank(w, rule.rank(x)));
  NEREID_RETURN_IF_ERROR(check_zero(rule, x_zero, x));
  NEREID_RETURN_IF_ERROR(check_zero(rule, w_zero, w));
  if (rule.has(x_zero)) NEREID_RETURN_IF_ERROR(check_single(rule, x_zero));
  if (rule.has(w_zero) && !is_single(rule.shape(w_zero))) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(w_zero, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(w_zero, 0, w, 0));
  }
  NEREID_TRY(const int64_t group, conv_group(ctx));
  NEREID_RETURN_IF_ERROR(check_conv_channels(rule, x, w, group));
  NEREID_TRY(const std::vector<int64_t> kernel, conv_kernel(ctx, rule, w));
  return conv_shape(ctx, rule.shape(x), rule.dim(w, 0), kernel);
}

Result<Elements<uint32_t>> quantized_conv_sums(const EvalContext& ctx, size_t x, size_t w, size_t x_zero,
                                               size_t w_zero) {
  const ConstTensorView &xs = ctx.inputs[x], &ws = ctx.inputs[w];
  NEREID_TRY(Windows windows, read_windows(ctx.attrs, std::span(ws.sizes).subspan(2)));
  NEREID_RETURN_IF_ERROR(fit_image(windows, xs.sizes));
  const int64_t group = ctx.attrs.integer("group");
  Elements<uint32_t> a = load<uint32_t>(xs), b = load<uint32_t>(ws);
  if (ctx.inputs[x_zero].data != nullptr) {
    const uint32_t zero = load<uint32_t>(ctx.inputs[x_zero])[0];
    for (uint32_t& v : a) v -= zero;
  }
  if (ctx.inputs[w_zero].data != nullptr && b.size() > 0) {
    const Elements<uint32_t> zeros = load<uint32_t>(ctx.inputs[w_zero]);
    const int64_t each = b.size() / ws.sizes[0];
    for (int64_t i = 0; i < b.size(); ++i) b[i] -= zeros[zeros.size() == 1 ? 0 : i / each];
  }
  Elements<uint32_t> y(ctx.outputs[0].elements());
  const ConvSizes sizes{.batch = xs.sizes[0],
                        .groups = group,
                        .in_channels = ws.sizes[1],
                        .out_channels = ws.sizes[0] / group,
                        .axes = windows.axes};
  if (y.size() > 0) convolve<uint32_t>(sizes, a.data(), b.data(), nullptr, y.data());
  return y;
}

}  // namespace nereid::ops
