// SPDX-License-Identifier: Apache-2.0
// Products of two values that change from run to run: batches of small matrices (attention), or one of two activations.
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::GemmPackParams;
using kernels::GemmParams;

// The right side is packed in every run, then multiplied.
class PackedMatmulStep final : public NetStep {
 public:
  explicit PackedMatmulStep(const kernels::IsaKernels& kernels) : kernels_(kernels) {}
  void run(Worker& worker) override {
    pack.packed = reinterpret_cast<float*>(memory);
    params.b = pack.packed;
    kernels_.gemm_pack(pack, worker);
    worker.barrier();
    kernels_.gemm(params, worker);
  }
  GemmPackParams pack;
  GemmParams params;
  std::byte* memory = nullptr;

 private:
  const kernels::IsaKernels& kernels_;
};

struct BatchDim {
  int64_t count, a, b, c;  // elements between neighbours
};

// The batch dimensions of a product, neighbours merged where both sides step evenly.
std::vector<BatchDim> batch_dims(const std::vector<int64_t>& as, const std::vector<int64_t>& bs,
                                 const std::vector<int64_t>& cs) {
  std::vector<BatchDim> dims;
  int64_t a = as[as.size() - 1] * as[as.size() - 2];
  int64_t b = bs[bs.size() - 1] * bs[bs.size() - 2];
  int64_t c = cs[cs.size() - 1] * cs[cs.size() - 2];
  for (size_t back = 3; back <= cs.size(); ++back) {
    const int64_t count = cs[cs.size() - back];
    const int64_t na = back <= as.size() ? as[as.size() - back] : 1;
    const int64_t nb = back <= bs.size() ? bs[bs.size() - back] : 1;
    const BatchDim dim{count, na == 1 ? 0 : a, nb == 1 ? 0 : b, c};
    a *= na;
    b *= nb;
    c *= count;
    if (count == 1) continue;
    if (!dims.empty()) {
      BatchDim& inner = dims.back();
      if (dim.a == inner.a * inner.count && dim.b == inner.b * inner.count && dim.c == inner.c * inner.count) {
        inner.count *= count;
        continue;
      }
    }
    dims.push_back(dim);
  }
  return dims;  // the innermost first
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_matmul(NetBinder& binder, const graph::Node& node) {
  NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  const std::vector<int64_t> as = binder.sizes(node.inputs[0]), bs = binder.sizes(node.inputs[1]),
                             cs = binder.sizes(node.outputs[0]);
  if (as.size() < 2 || bs.size() < 2) return unsupported("an operand is a vector");
  const int64_t m = as[as.size() - 2], k = as.back(), n = bs.back();
  for (int64_t s : cs)
    if (s == 0) return unsupported("there is nothing to multiply");
  if (k == 0) return unsupported("there is nothing to multiply");
  const std::vector<BatchDim> dims = batch_dims(as, bs, cs);
  if (dims.size() > 2) return unsupported("{} batch dimensions do not fold into two", dims.size());

  auto step = std::make_unique<PackedMatmulStep>(binder.kernels());
  GemmParams& p = step->params;
  p.a_stride = k;
  p.m = m;
  p.n = n;
  p.k = k;
  p.c_stride = n;
  GemmParams::Batch* batches[] = {&p.inner, &p.outer};
  GemmPackParams& pack = step->pack;
  pack.b_stride = n;
  pack.k = k;
  pack.n = n;
  const int64_t packed = kernels::gemm_packed_elements(k, n);
  // A right side that repeats is packed once.
  int64_t packed_matrices = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    *batches[i] = {
        .count = dims[i].count, .a = dims[i].a, .b = dims[i].b == 0 ? 0 : packed * packed_matrices, .c = dims[i].c};
    if (dims[i].b == 0) continue;
    (i == 0 ? pack.batch : pack.batch_outer) = dims[i].count;
    (i == 0 ? pack.b_batch_stride : pack.b_outer_stride) = dims[i].b;
    packed_matrices *= dims[i].count;
  }
  binder.point(node.inputs[0], &p.a);
  binder.point(node.inputs[1], &pack.b);
  binder.point(node.outputs[0], &p.c);
  const int64_t own = kernels::gemm_scratch_bytes(p, binder.workers());
  if (own > 0) return unsupported("the product wants scratch of its own");
  binder.want_scratch(packed_matrices * packed * 4, &step->memory);
  step->kernel = "gemm";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
