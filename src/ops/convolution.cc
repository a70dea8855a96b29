// SPDX-License-Identifier: Apache-2.0
#include "ops/convolution.h"

#include <algorithm>

namespace nereid::ops {

Result<int64_t> conv_group(const InferContext& ctx) {
  const int64_t group = ctx.attrs.integer("group");
  if (group < 1) return invalid_argument("group is {}; it should be at least 1", group);
  return group;
}

Status check_conv_channels(const ShapeRule& rule, size_t x, size_t w, int64_t group) {
  const Dim &channels = rule.dim(x, 1), &out = rule.dim(w, 0), &in = rule.dim(w, 1);
  if (channels.is_static() && channels.size() % group != 0)
    return invalid_argument("{} has {} channels, which {} groups do not share", rule.describe(x), channels.size(),
                            group);
  if (channels.is_static() && in.is_static() && channels.size() / group != in.size())
    return invalid_argument("{} has {} channels in {} groups, so {} should have {} / {} of them in dimension 1",
                            rule.describe(x), channels.size(), group, rule.describe(w), channels.size(), group);
  if (out.is_static() && out.size() % group != 0)
    return invalid_argument("{} has {} output channels, which {} groups do not share", rule.describe(w), out.size(),
                            group);
  return Status::ok();
}

Result<std::vector<int64_t>> conv_kernel(const InferContext& ctx, const ShapeRule& rule, size_t w) {
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

Result<Shape> conv_shape(const InferContext& ctx, const Shape& x, const Dim& out, const std::vector<int64_t>& kernel) {
  std::vector<Dim> dims = {x[0], out};
  if (std::ranges::find(kernel, -1) != kernel.end()) {
    dims.resize(static_cast<size_t>(x.rank()), Dim::unknown());
    return Shape(std::move(dims));
  }
  NEREID_TRY(const Windows windows, read_windows(ctx.attrs, kernel));
  NEREID_TRY(const Shape image, fit_shape(windows, x));
  for (int d = 2; d < image.rank(); ++d) dims.push_back(image[d]);
  return Shape(std::move(dims));
}

double conv_flops(const TensorType& w, const TensorType& moved) {
  double work = 2;
  for (int d = 1; d < w.shape.rank(); ++d) work *= w.shape[d].is_static() ? static_cast<double>(w.shape[d].size()) : 1;
  return work * elements_of(moved);
}

Cost conv_cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  cost.flops = conv_flops(*ctx.inputs[1], outputs[0]);
  return cost;
}

Cost conv_transpose_cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  cost.flops = conv_flops(*ctx.inputs[1], *ctx.inputs[0]);
  return cost;
}

}  // namespace nereid::ops
