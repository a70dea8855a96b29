// SPDX-License-Identifier: Apache-2.0
// linear with a matrix in f32 on the product kernel of networks.
#include "kernels/cpu/gemm.h"
#include "runtime/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::LinearParams;

kernels::Act act_of(kernels::Activation activation) {
  switch (activation) {
    case kernels::Activation::kNone:
      return kernels::Act::kNone;
    case kernels::Activation::kSilu:
      return kernels::Act::kSilu;
    case kernels::Activation::kGelu:
      return kernels::Act::kGelu;
    case kernels::Activation::kGeluTanh:
      return kernels::Act::kGeluTanh;
    case kernels::Activation::kRelu:
      return kernels::Act::kRelu;
  }
  return kernels::Act::kNone;
}

}  // namespace

// A matrix in f32 lies as the product kernel wants it (tiles of 16 rows, column after column, are its panels), which is
// faster than the kernel of coded weights from a few rows on and has the activations that encoders use.
Result<std::unique_ptr<Step>> bind_f32_product(BindContext& c, const LinearParams& p, const Slot& x, const Slot& y) {
  kernels::GemmParams g;
  g.a = x.f32();
  g.a_stride = x.stride;
  g.b = reinterpret_cast<const float*>(p.weight.data);
  g.n = p.weight.layout.rows;
  g.k = p.weight.layout.cols;
  g.c = y.f32();
  g.c_stride = y.stride;
  g.epilogue.bias = p.bias;
  g.epilogue.residual = p.residual;
  g.epilogue.residual_stride = p.residual_stride;
  g.epilogue.residual_last = true;
  g.epilogue.act = act_of(p.activation);
  if (kernels::gemm_scratch_bytes(g, c.workers()) > 0) return internal("a product wants scratch of its own");
  return std::unique_ptr<Step>(std::make_unique<KernelStep<kernels::GemmParams>>(c.program().kernels().gemm, g,
                                                                                 &kernels::GemmParams::m, x.rows));
}

}  // namespace nereid::runtime
