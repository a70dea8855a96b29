// SPDX-License-Identifier: Apache-2.0
// Channels-last pooling over one or two dimensions, and global pooling over any.
#include "ops/pool.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
Result<std::unique_ptr<NetStep>> bind_net_pool_last(NetBinder& binder, const graph::Node& node) {
  NEREID_TRY(const kernels::LowType x_type, low_type_of(binder, node.inputs[0]));
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]);
  const size_t spatial = xs.size() - 2;
  if (spatial < 1 || spatial > 2) return unsupported("it has {} spatial dimensions", spatial);
  if (*binder.type(node.outputs[0]).shape.elements() == 0) return unsupported("there is nothing to compute");
  NEREID_TRY(ops::Windows windows, ops::read_pool(node.attrs, spatial));
  for (size_t d = 0; d < spatial; ++d) NEREID_RETURN_IF_ERROR(ops::fit(windows, d, xs[1 + d]));
  const ops::WindowAxis row{.in = 1, .out = 1};
  const ops::WindowAxis &h = spatial == 2 ? windows.axes[0] : row, &w = windows.axes[spatial - 1];
  auto step = std::make_unique<ParamStep<kernels::PoolParams>>(binder.kernels().pool);
  kernels::PoolParams& p = step->params;
  using Kind = kernels::PoolParams::Kind;
  const bool is_max = node.attrs.text("kind") == "max";
  p.kind = is_max ? Kind::kMax : node.attrs.boolean("count_include_pad") ? Kind::kAverageWithPad : Kind::kAverage;
  p.batch = xs[0];
  p.in_h = h.in;
  p.in_w = w.in;
  p.c = xs.back();
  p.out_h = h.out;
  p.out_w = w.out;
  p.kernel_h = h.kernel;
  p.kernel_w = w.kernel;
  p.stride_h = h.stride;
  p.stride_w = w.stride;
  p.dilation_h = h.dilation;
  p.dilation_w = w.dilation;
  p.pad_top = h.begin;
  p.pad_left = w.begin;
  p.pad_bottom = h.end;
  p.pad_right = w.end;
  p.x_type = x_type;
  p.x_stride = p.c;
  p.y_stride = binder.row_stride(node.outputs[0]);
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  step->kernel = is_max ? "pool.max" : "pool.average";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_global_pool_last(NetBinder& binder, const graph::Node& node) {
  NEREID_TRY(const kernels::LowType x_type, low_type_of(binder, node.inputs[0]));
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]);
  auto step = std::make_unique<ParamStep<kernels::GlobalPoolParams>>(binder.kernels().global_pool);
  kernels::GlobalPoolParams& p = step->params;
  p.is_max = node.attrs.text("kind") == "max";
  p.batch = xs[0];
  p.c = xs.back();
  for (size_t d = 1; d + 1 < xs.size(); ++d) p.pixels *= xs[d];
  if (p.batch == 0 || p.c == 0 || p.pixels == 0) return unsupported("there is nothing to compute");
  p.x_type = x_type;
  p.x_stride = p.y_stride = p.c;
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  step->kernel = "global_pool";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
