// SPDX-License-Identifier: Apache-2.0
// Channels-last convolutions over one or two dimensions.
#include "kernels/cpu/low_precision.h"
#include "ops/window.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::ConvAlgorithm;
using kernels::ConvShape;

std::string layout_of(const ConvShape& s, ConvAlgorithm algorithm) {
  const std::string_view name = algorithm == ConvAlgorithm::kGemm        ? "conv.gemm"
                                : algorithm == ConvAlgorithm::kDepthwise ? "conv.depthwise"
                                : algorithm == ConvAlgorithm::kWinograd2 ? "conv.winograd2"
                                                                         : "conv.winograd4";
  return fmt::format("{} {}x{}x{}x{}/{}", name, s.out_c, s.in_c, s.kernel_h, s.kernel_w, s.groups);
}

}  // namespace

Result<ConvShape> conv_shape_of(NetBinder& binder, const graph::Node& node) {
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]), ws = binder.sizes(node.inputs[1]),
                             ys = binder.sizes(node.outputs[0]);
  const size_t spatial = xs.size() - 2;
  if (spatial < 1 || spatial > 2) return unsupported("it has {} spatial dimensions", spatial);
  for (int64_t s : ys)
    if (s == 0) return unsupported("there is nothing to compute");
  const std::vector<int64_t> kernel(ws.begin() + 2, ws.end());
  NEREID_TRY(ops::Windows windows, ops::read_windows(node.attrs, kernel));
  for (size_t d = 0; d < spatial; ++d) NEREID_RETURN_IF_ERROR(ops::fit(windows, d, xs[1 + d]));
  // A row of pixels is an image of height 1.
  const ops::WindowAxis row{.in = 1, .out = 1};
  const ops::WindowAxis &h = spatial == 2 ? windows.axes[0] : row, &v = windows.axes[spatial - 1];
  ConvShape s;
  s.batch = xs[0];
  s.in_h = h.in;
  s.in_w = v.in;
  s.in_c = xs.back();
  s.out_h = h.out;
  s.out_w = v.out;
  s.out_c = ys.back();
  s.kernel_h = h.kernel;
  s.kernel_w = v.kernel;
  s.stride_h = h.stride;
  s.stride_w = v.stride;
  s.dilation_h = h.dilation;
  s.dilation_w = v.dilation;
  s.pad_top = h.begin;
  s.pad_left = v.begin;
  s.groups = node.attrs.integer("group");
  return s;
}

Result<std::unique_ptr<NetStep>> bind_net_conv_last(NetBinder& binder, const graph::Node& node) {
  const bool stored = stores_bf16(binder, node);
  if (!stored) NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  const auto* w = static_cast<const float*>(binder.constant(node.inputs[1]));
  if (w == nullptr) return unsupported("the weights are no constant");
  NEREID_TRY(const ConvShape s, conv_shape_of(binder, node));
  const Chosen chosen = choose_conv(binder, node, s);
  if (stored || binder.planes_of(node.inputs[0]).valid() || chosen.tactic.way == kernels::Way::kBF16) {
    NEREID_TRY(std::unique_ptr<NetStep> low, bind_low_conv(binder, node, s));
    if (!kernels::low_conv_is_depthwise(s)) chosen.note(*low);
    return low;
  }
  auto step = std::make_unique<ParamStep<kernels::ConvParams>>(binder.kernels().conv);
  kernels::ConvParams& p = step->params;
  p.shape = s;
  p.algorithm = kernels::conv_algorithm(chosen.tactic.way);
  p.blocking = chosen.tactic.blocking;
  const std::string layout = layout_of(s, p.algorithm);
  Network::Unpack unpack;
  if (kernels::conv_can_unpack(p.algorithm))
    unpack = [s, algorithm = p.algorithm](const std::byte* form, std::byte* raw) {
      kernels::conv_unpack_weight(s, algorithm, reinterpret_cast<const float*>(form), reinterpret_cast<float*>(raw));
    };
  NEREID_TRY(const std::byte* packed,
             binder.network().packed(
                 w, layout, kernels::conv_weight_elements(s, p.algorithm) * 4,
                 [&](std::byte* dst) { kernels::conv_pack_weight(s, p.algorithm, w, reinterpret_cast<float*>(dst)); },
                 unpack));
  p.weight = reinterpret_cast<const float*>(packed);
  p.x_stride = s.in_c;
  p.y_stride = binder.row_stride(node.outputs[0]);
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  NEREID_RETURN_IF_ERROR(bind_epilogue(binder, node, 2, s.out_c, p.epilogue));
  if (const int64_t bytes = kernels::conv_scratch_bytes(s, p.algorithm, binder.workers(), p.blocking); bytes > 0)
    binder.want_scratch(bytes, &p.scratch);
  step->kernel = layout.substr(0, layout.find(' '));
  chosen.note(*step);
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
