// SPDX-License-Identifier: Apache-2.0
// Channels-last transposed convolutions over one or two dimensions.
#include "ops/window.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

// The padding of an axis whose sizes are known (ops/conv_transpose.cc has the rule).
void place(ops::Windows& windows, size_t axis, int64_t x_size, int64_t y_size, int64_t extra, bool has_shape) {
  ops::WindowAxis& a = windows.axes[axis];
  a.out = x_size;
  a.in = y_size;
  const bool upper = windows.auto_pad == ops::AutoPad::kSameUpper;
  if (has_shape || upper || windows.auto_pad == ops::AutoPad::kSameLower) {
    const int64_t total = std::max<int64_t>(0, (x_size - 1) * a.stride + extra + a.extent() - y_size);
    a.begin = upper ? total / 2 : total - total / 2;
  } else if (windows.auto_pad == ops::AutoPad::kValid) {
    a.begin = 0;
  }
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_conv_transpose_last(NetBinder& binder, const graph::Node& node) {
  NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  const auto* w = static_cast<const float*>(binder.constant(node.inputs[1]));
  if (w == nullptr) return unsupported("the weights are no constant");
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]), ws = binder.sizes(node.inputs[1]),
                             ys = binder.sizes(node.outputs[0]);
  const size_t spatial = xs.size() - 2;
  if (spatial < 1 || spatial > 2) return unsupported("it has {} spatial dimensions", spatial);
  for (const std::vector<int64_t>& sizes : {xs, ys})
    for (int64_t s : sizes)
      if (s == 0) return unsupported("there is nothing to compute");
  NEREID_TRY(ops::Windows windows, ops::read_windows(node.attrs, std::span(ws).subspan(2)));
  const std::vector<int64_t>& extra = node.attrs.integers("output_padding");
  for (size_t d = 0; d < spatial; ++d)
    place(windows, d, xs[1 + d], ys[1 + d], extra.size() == spatial ? extra[d] : 0,
          !node.attrs.integers("output_shape").empty());
  // A row of pixels is an image of height 1. "in" of a window axis is a size of y here.
  const ops::WindowAxis row{.in = 1, .out = 1};
  const ops::WindowAxis &h = spatial == 2 ? windows.axes[0] : row, &v = windows.axes[spatial - 1];
  auto step = std::make_unique<ParamStep<kernels::ConvTransposeParams>>(binder.kernels().conv_transpose);
  kernels::ConvTransposeParams& p = step->params;
  p.shape = {.batch = xs[0],
             .in_h = h.out,
             .in_w = v.out,
             .in_c = xs.back(),
             .out_h = h.in,
             .out_w = v.in,
             .out_c = ys.back(),
             .kernel_h = h.kernel,
             .kernel_w = v.kernel,
             .stride_h = h.stride,
             .stride_w = v.stride,
             .dilation_h = h.dilation,
             .dilation_w = v.dilation,
             .pad_top = h.begin,
             .pad_left = v.begin,
             .groups = node.attrs.integer("group")};
  const kernels::ConvShape& s = p.shape;
  if (!kernels::conv_transpose_fits(s))
    return unsupported("an output reads more than {} taps", kernels::kMostTransposeTaps);
  const std::string layout =
      fmt::format("conv_transpose {}x{} stride {}x{} dilation {}x{} cut {}x{} groups {}{}", s.kernel_h, s.kernel_w,
                  s.stride_h, s.stride_w, s.dilation_h, s.dilation_w, s.pad_top, s.pad_left, s.groups,
                  kernels::conv_transpose_joins_columns(s) ? " joined" : "");
  NEREID_TRY(const std::byte* packed,
             binder.network().packed(w, layout, kernels::conv_transpose_weight_elements(s) * 4, [&](std::byte* dst) {
               kernels::conv_transpose_pack_weight(s, w, reinterpret_cast<float*>(dst));
             }));
  p.weight = reinterpret_cast<const float*>(packed);
  p.x_stride = s.in_c;
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  NEREID_RETURN_IF_ERROR(bind_epilogue(binder, node, 2, s.out_c, p.epilogue));
  if (const int64_t bytes = kernels::conv_transpose_scratch_bytes(s, binder.workers()); bytes > 0)
    binder.want_scratch(bytes, &p.scratch);
  step->kernel = "conv_transpose";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
