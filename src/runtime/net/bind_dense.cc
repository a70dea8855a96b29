// SPDX-License-Identifier: Apache-2.0
// Products with a constant matrix, packed once.
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {

Result<std::unique_ptr<NetStep>> bind_net_dense(NetBinder& binder, const graph::Node& node) {
  const bool stored = stores_bf16(binder, node);
  if (!stored) NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  const auto* w = static_cast<const float*>(binder.constant(node.inputs[1]));
  if (w == nullptr) return unsupported("the matrix is no constant");
  const std::vector<int64_t> ws = binder.sizes(node.inputs[1]);
  const bool transposed = node.attrs.boolean("transposed");
  if (ws.size() != 2) return unsupported("the matrix has {} dimensions", ws.size());
  const int64_t k = ws[transposed ? 1 : 0], n = ws[transposed ? 0 : 1];
  const int64_t elements = *binder.type(node.inputs[0]).shape.elements();
  if (k == 0 || n == 0 || elements == 0) return unsupported("there is nothing to multiply");
  const Chosen chosen = choose_gemm(binder, node, {.m = elements / k, .n = n, .k = k});
  if (stored || chosen.tactic.way == kernels::Way::kBF16) {
    NEREID_TRY(std::unique_ptr<NetStep> low, bind_low_dense(binder, node));
    chosen.note(*low);
    return low;
  }
  const auto unpack = [k, n, transposed, b_stride = ws[1]](const std::byte* form, std::byte* raw) {
    kernels::gemm_unpack({.packed = reinterpret_cast<const float*>(form),
                          .b = reinterpret_cast<float*>(raw),
                          .b_stride = b_stride,
                          .transposed = transposed,
                          .k = k,
                          .n = n});
  };
  NEREID_TRY(const std::byte* packed, binder.network().packed(
                                          w, transposed ? "gemm^T" : "gemm", kernels::gemm_packed_elements(k, n) * 4,
                                          [&](std::byte* dst) {
                                            kernels::gemm_pack({.b = w,
                                                                .b_stride = ws[1],
                                                                .transposed = transposed,
                                                                .k = k,
                                                                .n = n,
                                                                .packed = reinterpret_cast<float*>(dst)});
                                          },
                                          unpack));
  auto step = std::make_unique<ParamStep<kernels::GemmParams>>(binder.kernels().gemm);
  kernels::GemmParams& p = step->params;
  p.a_stride = k;
  p.b = reinterpret_cast<const float*>(packed);
  p.m = elements / k;
  p.n = n;
  p.k = k;
  p.c_stride = binder.row_stride(node.outputs[0]);
  p.blocking = chosen.tactic.blocking.gemm;
  binder.point(node.inputs[0], &p.a);
  binder.point(node.outputs[0], &p.c);
  NEREID_RETURN_IF_ERROR(bind_epilogue(binder, node, 2, n, p.epilogue));
  if (const int64_t bytes = kernels::gemm_scratch_bytes(p, binder.workers()); bytes > 0)
    binder.want_scratch(bytes, &p.scratch);
  step->kernel = "gemm";
  chosen.note(*step);
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
