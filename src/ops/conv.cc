// SPDX-License-Identifier: Apache-2.0
// conv: convolution in any number of spatial dimensions, with groups, strides, dilations and padding.
#include "ops/conv_loop.h"
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "w"}, {.name = "bias", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"auto_pad", AttrSpec::Kind::kString, "NOTSET", "NOTSET (pads), SAME_UPPER, SAME_LOWER or VALID"},
    {"dilations", AttrSpec::Kind::kInts, "[]", "distance of taps, one a spatial axis; empty: 1"},
    {"group", AttrSpec::Kind::kInt, "1", "groups of channels that do not mix"},
    {"kernel_shape", AttrSpec::Kind::kInts, "[]", "spatial sizes of w; empty: as w has them"},
    {"pads", AttrSpec::Kind::kInts, "[]", "padding: all begins, then all ends; empty: 0"},
    {"strides", AttrSpec::Kind::kInts, "[]", "steps, one a spatial axis; empty: 1"}};

// The kernel's spatial sizes: those of w, which kernel_shape must not contradict; -1 where neither tells.
Result<std::vector<int64_t>> kernel_of(const InferContext& ctx, const ShapeRule& rule) {
  std::vector<int64_t> kernel;
  const std::vector<int64_t>& given = ctx.attrs.integers("kernel_shape");
  const int spatial = rule.rank(0) - 2;
  if (!given.empty() && static_cast<int>(given.size()) != spatial)
    return invalid_argument("kernel_shape has {} numbers and should have {}", given.size(), spatial);
  for (int i = 0; i < spatial; ++i) {
    if (!given.empty()) NEREID_RETURN_IF_ERROR(rule.has_size(1, i + 2, given[static_cast<size_t>(i)], "kernel_shape"));
    kernel.push_back(!given.empty() ? given[static_cast<size_t>(i)] : rule.dim(1, i + 2).size());
  }
  return kernel;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(is_image(rule.type(0), "x"));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, rule.rank(0)));
  if (rule.type(1).dtype != rule.type(0).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(1));
  const int64_t group = ctx.attrs.integer("group");
  if (group < 1) return invalid_argument("group is {}; it should be at least 1", group);
  const Dim &channels = rule.dim(0, 1), &out = rule.dim(1, 0), &in = rule.dim(1, 1);
  if (channels.is_static() && in.is_static() && (channels.size() % group != 0 || channels.size() / group != in.size()))
    return invalid_argument("{} has {} channels in {} groups, so {} should have {} / {} of them in dimension 1",
                            rule.describe(0), channels.size(), group, rule.describe(1), channels.size(), group);
  if (out.is_static() && out.size() % group != 0)
    return invalid_argument("{} has {} output channels, which {} groups do not share", rule.describe(1), out.size(),
                            group);
  if (rule.has(2)) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(2, 0, 1, 0));
    if (rule.type(2).dtype != rule.type(0).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(2));
  }
  NEREID_TRY(const std::vector<int64_t> kernel, kernel_of(ctx, rule));
  std::vector<Dim> dims = {rule.dim(0, 0), out};
  if (std::ranges::find(kernel, -1) != kernel.end()) {
    dims.resize(static_cast<size_t>(rule.rank(0)), Dim::unknown());
  } else {
    NEREID_TRY(const Windows windows, read_windows(ctx.attrs, kernel));
    NEREID_TRY(const Shape image, fit_shape(windows, rule.shape(0)));
    for (int d = 2; d < image.rank(); ++d) dims.push_back(image[d]);
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
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

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  double work = 2;
  const Shape& w = ctx.inputs[1]->shape;
  for (int d = 1; d < w.rank(); ++d) work *= w[d].is_static() ? static_cast<double>(w[d].size()) : 1;
  c.flops = work * elements_of(outputs[0]);
  return c;
}

}  // namespace

extern constexpr OpDef kConv = {.name = "conv",
                                .summary =
                                    "y[n, m, o] = bias[m] + sum over c, k of w[m, c, k] x[n, c, o * stride + k * "
                                    "dilation - pad]",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = kAttrs,
                                .infer = infer,
                                .evaluate = evaluate,
                                .cost = cost};

}  // namespace nereid::ops
