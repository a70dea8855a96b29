// SPDX-License-Identifier: Apache-2.0
// Products and convolutions in bf16: activations are bf16, or f32 and rounded as they are read; sums are f32.
#include "kernels/cpu/low_precision.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::LowType;

Status bind_low_epilogue(NetBinder& binder, const graph::Node& node, int64_t columns, kernels::LowEpilogue& e) {
  NEREID_TRY(e.act, act_of(node.attrs.text("activation")));
  e.alpha = static_cast<float>(node.attrs.real("alpha"));
  e.beta = static_cast<float>(node.attrs.real("beta"));
  e.residual_last = node.attrs.boolean("residual_last");
  const graph::ValueId bias = node.inputs[2], residual = node.inputs[3];
  if (bias.valid()) {
    if (binder.type(bias).shape.elements() != columns) return unsupported("the bias is no vector of {}", columns);
    binder.point(bias, &e.bias);
  }
  if (residual.valid()) {
    if (binder.type(residual).shape != binder.type(node.outputs[0]).shape)
      return unsupported("the residual is broadcast");
    NEREID_TRY(e.residual_type, low_type_of(binder, residual));
    binder.point(residual, &e.residual);
    e.residual_stride = columns;
  }
  NEREID_TRY(e.y_type, low_type_of(binder, node.outputs[0]));
  return Status::ok();
}

constexpr int64_t kFewRows = 8;

}  // namespace

bool reads_planes(NetBinder& binder, const graph::Node& transpose, const graph::Node& layer) {
  const std::vector<int64_t> channels_last = {0, 2, 3, 1};
  if (transpose.op->name != "transpose" || transpose.attrs.integers("permutation") != channels_last) return false;
  if (binder.dtype(transpose.inputs[0]) != DType::f32 || layer.op->name != "conv_last") return false;
  if (layer.inputs[0] != transpose.outputs[0] || !multiplies_in_bf16(binder, layer)) return false;
  const Result<kernels::ConvShape> s = conv_shape_of(binder, layer);
  // Three colours become four as bands are copied (kernels/cpu/low_plan.h).
  return s.is_ok() && s->in_c == 3 && s->groups == 1 && s->kernel_h * s->kernel_w <= 64;
}

bool pays_in_bf16(const NetBinder& binder, const ProductSizes& sizes) {
  if (binder.network().precision() != NetPrecision::kBF16) return false;
  if (binder.kernels().isa != Isa::amx) return sizes.m <= kFewRows;
  // A tile takes 32 of k, and columns in panels of 16, two at a time. With half of both it still multiplies twice as
  // much a cycle as two FMA pipes, and what it reads and writes may be bf16 (storage.cc).
  return sizes.k >= 16 && sizes.n >= 16;
}

Result<std::unique_ptr<NetStep>> bind_low_dense(NetBinder& binder, const graph::Node& node) {
  const auto* w = static_cast<const float*>(binder.constant(node.inputs[1]));
  const std::vector<int64_t> ws = binder.sizes(node.inputs[1]);
  const bool transposed = node.attrs.boolean("transposed");
  const int64_t k = ws[transposed ? 1 : 0], n = ws[transposed ? 0 : 1];
  NEREID_TRY(const std::byte* packed,
             binder.network().packed(w, transposed ? "gemm.bf16^T" : "gemm.bf16",
                                     kernels::low_packed_bytes(LowType::kBF16, k, n),
                                     [&](std::byte* dst) { kernels::low_pack_bf16(w, ws[1], transposed, k, n, dst); }));
  auto step = std::make_unique<ParamStep<kernels::LowGemmParams>>(binder.kernels().low_gemm);
  kernels::LowGemmParams& p = step->params;
  NEREID_TRY(p.a_type, low_type_of(binder, node.inputs[0]));
  p.a_stride = k;
  p.b = packed;
  p.m = *binder.type(node.inputs[0]).shape.elements() / k;
  p.n = n;
  p.k = k;
  p.c_stride = n;
  binder.point(node.inputs[0], &p.a);
  binder.point(node.outputs[0], &p.c);
  NEREID_RETURN_IF_ERROR(bind_low_epilogue(binder, node, n, p.epilogue));
  if (const int64_t bytes = kernels::low_gemm_scratch_bytes(p, binder.workers()); bytes > 0)
    binder.want_scratch(bytes, &p.scratch);
  step->kernel = "gemm.bf16";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_low_conv(NetBinder& binder, const graph::Node& node,
                                               const kernels::ConvShape& shape) {
  const auto* w = static_cast<const float*>(binder.constant(node.inputs[1]));
  auto step = std::make_unique<ParamStep<kernels::LowConvParams>>(binder.kernels().low_conv);
  kernels::LowConvParams& p = step->params;
  p.shape = shape;
  NEREID_TRY(p.x_type, low_type_of(binder, node.inputs[0]));
  p.x_stride = shape.in_c;
  p.y_stride = shape.out_c;
  const std::string layout =
      fmt::format("conv.bf16 {}x{}x{}x{}/{}", shape.out_c, shape.in_c, shape.kernel_h, shape.kernel_w, shape.groups);
  NEREID_TRY(p.weight, binder.network().packed(w, layout, kernels::low_conv_weight_bytes(shape, p.x_type),
                                               [&](std::byte* dst) { kernels::low_pack_conv_bf16(shape, w, dst); }));
  const graph::ValueId planes = binder.planes_of(node.inputs[0]);
  p.x_planes = planes.valid();
  binder.point(p.x_planes ? planes : node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  NEREID_RETURN_IF_ERROR(bind_low_epilogue(binder, node, shape.out_c, p.epilogue));
  if (const int64_t bytes = kernels::low_conv_scratch_bytes(shape, p.x_type, binder.workers()); bytes > 0)
    binder.want_scratch(bytes, &p.scratch);
  step->kernel = kernels::low_conv_is_depthwise(shape) ? "conv.bf16.depthwise" : "conv.bf16";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
