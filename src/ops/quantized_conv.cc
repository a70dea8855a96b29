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

// The kernel's spatial sizes, -1 where they are not known; kernel_shape must not contradict w.
Result<std::vector<int64_t>> kernel_of(const InferContext& ctx, const ShapeRule& rule, size_t w) {
  const std::vector<int64_t>& given = ctx.attrs.integers("kernel_shape");
  const int spatial = rule.rank(w) - 2;
  if (!given.empty() && static_cast<int>(given.size()) != spatial)
    return invalid_argument("kernel_shape has {} numbers and should have {}", given.size(), spatial);
  std::vector<int64_t> kernel;
  for (int d = 0; d < spatial; ++d) {
    const int64_t size = given.empty() ? rule.dim(w, d + 2).size() : given[static_cast<size_t>(d)];
    if (!given.empty()) NEREID_RETURN_IF_ERROR(rule.has_size(w, d + 2, size, "kernel_shape"));
    kernel.push_back(size);
  }
  return kernel;
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
  const int64_t group = ctx.attrs.integer("group");
  if (group < 1) return invalid_argument("group is {} and should be at least 1", group);
  const Dim &channels = rule.dim(x, 1), &out = rule.dim(w, 0), &in = rule.dim(w, 1);
  if (channels.is_static() && in.is_static() && (channels.size() % group != 0 || channels.size() / group != in.size()))
    return invalid_argument("the {} channels of {} in {} groups do not fit dimension 1 of {}", channels.size(),
                            rule.describe(x), group, rule.describe(w));
  if (out.is_static() && out.size() % group != 0)
    return invalid_argument("the {} output channels of {} are not shared by {} groups", out.size(), rule.describe(w),
                            group);
  NEREID_TRY(const std::vector<int64_t> kernel, kernel_of(ctx, rule, w));
  std::vector<Dim> dims = {rule.dim(x, 0), out};
  if (std::ranges::find(kernel, -1) != kernel.end()) {
    dims.resize(static_cast<size_t>(rule.rank(x)), Dim::unknown());
    return Shape(std::move(dims));
  }
  NEREID_TRY(const Windows windows, read_windows(ctx.attrs, kernel));
  NEREID_TRY(const Shape image, fit_shape(windows, rule.shape(x)));
  for (int d = 2; d < image.rank(); ++d) dims.push_back(image[d]);
  return Shape(std::move(dims));
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

Cost quantized_conv_cost(const InferContext& ctx, std::span<const TensorType> outputs, size_t w) {
  Cost cost = traffic(ctx, outputs);
  const TensorType& weights = *ctx.inputs[w];
  const Dim& out = weights.shape[0];
  const double each = elements_of(weights) / static_cast<double>(out.is_static() && out.size() > 0 ? out.size() : 1);
  cost.flops = 2 * elements_of(outputs[0]) * each;
  return cost;
}

}  // namespace nereid::ops
