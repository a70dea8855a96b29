// SPDX-License-Identifier: Apache-2.0
// attention_packed on the matrix product kernels: keys and values of a head are packed once, then some queries at a
// time make scores, weights and sums, which stay in L2 between the three.
//
// The work of a step is one line of (sequence, head, block of queries); each worker does a stretch of it of equal cost.
// How a sequence is cut changes no bit: a product's sums run over all keys whatever the block.
#include <algorithm>
#include <limits>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/row_norm.h"
#include "runtime/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::GemmPackParams;
using kernels::GemmParams;
using kernels::SoftmaxParams;

constexpr int64_t kScoreBytes = 64 << 10;  // of a block of queries
constexpr int64_t kTileRows = 14;          // of the product kernel on AVX-512

struct PackedAttention {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  int64_t q_stride = 0, k_stride = 0, v_stride = 0;
  const int32_t* starts = nullptr;
  const float* bias = nullptr;  // [heads, distances] or null
  int64_t distances = 0;
  int64_t heads = 0, kv_heads = 0, head_dim = 0, window = 0;
  bool causal = false;
  float scale = 1;
  float* y = nullptr;
  int64_t y_stride = 0;
};

int64_t rounded(int64_t floats) {
  return (floats + 15) / 16 * 16;
}

class PackedAttentionStep final : public Step {
 public:
  PackedAttentionStep(const kernels::IsaKernels& kernels, const PackedAttention& p, Count boundaries, int64_t longest)
      : kernels_(kernels), p_(p), boundaries_(boundaries), longest_(longest) {}

  void resize(const Sizes& sizes) override { sequences_ = sizes.of(boundaries_) - 1; }
  std::byte** scratch() { return &scratch_; }
  // Packed keys, packed values, the scores of a block.
  int64_t worker_floats() const {
    return keys_floats() + rounded(kernels::gemm_packed_elements(longest_, p_.head_dim)) +
           std::max(kScoreBytes / 4, kTileRows * rounded(longest_));
  }

  void run(Worker& worker) override {
    double total = 0;
    for (int64_t s = 0; s < sequences_; ++s) total += cost(s);
    const double begin = total * worker.index() / worker.count(), end = total * (worker.index() + 1) / worker.count();
    float* mine = reinterpret_cast<float*>(scratch_) + worker.index() * worker_floats();
    alone_.run([&](Worker& one) {
      double at = 0;
      for (int64_t s = 0; s < sequences_ && at < end; at += cost(s), ++s)
        if (at + cost(s) > begin) run_sequence(s, at, begin, end, mine, one);
    });
  }

 private:
  // Queries at a time where sequences are this long: whole tiles of the product kernel.
  static int64_t block_rows(int64_t size) {
    return std::max<int64_t>(kScoreBytes / 4 / std::max<int64_t>(size, 1) / kTileRows, 1) * kTileRows;
  }
  int64_t keys_floats() const { return rounded(kernels::gemm_packed_elements(p_.head_dim, longest_)); }
  int64_t size_of(int64_t s) const { return p_.starts[s + 1] - p_.starts[s]; }
  // Of a block: its scores, and what packing the head costs each of them.
  double cost(int64_t s) const {
    return static_cast<double>(p_.heads) * static_cast<double>(size_of(s)) * static_cast<double>(size_of(s) + 64);
  }

  // What of a sequence lies between `begin` and `end` of the line, where it starts at `at`.
  void run_sequence(int64_t s, double at, double begin, double end, float* mine, Worker& one) const {
    const int64_t size = size_of(s), rows = block_rows(size), group = p_.heads / p_.kv_heads;
    const double row_cost = static_cast<double>(size + 64);
    for (int64_t kv = 0; kv < p_.kv_heads; ++kv) {
      bool is_packed = false;
      for (int64_t g = 0; g < group; ++g)
        for (int64_t first = 0; first < size; first += rows) {
          const int64_t n = std::min(rows, size - first);
          const bool is_mine = at >= begin && at < end;
          at += static_cast<double>(n) * row_cost;
          if (!is_mine) continue;
          if (!is_packed) pack(s, kv, mine, one);
          is_packed = true;
          run_block(s, kv * group + g, first, n, mine, one);
        }
    }
  }

  void pack(int64_t s, int64_t kv, float* mine, Worker& one) const {
    const int64_t size = size_of(s), first = p_.starts[s];
    kernels_.gemm_pack({.b = p_.k + first * p_.k_stride + kv * p_.head_dim,
                        .b_stride = p_.k_stride,
                        .transposed = true,
                        .k = p_.head_dim,
                        .n = size,
                        .packed = mine},
                       one);
    kernels_.gemm_pack({.b = p_.v + first * p_.v_stride + kv * p_.head_dim,
                        .b_stride = p_.v_stride,
                        .k = size,
                        .n = p_.head_dim,
                        .packed = mine + keys_floats()},
                       one);
  }

  void run_block(int64_t s, int64_t head, int64_t first, int64_t rows, float* mine, Worker& one) const {
    const int64_t size = size_of(s), row = p_.starts[s] + first;
    float* values = mine + keys_floats();
    float* scores = values + rounded(kernels::gemm_packed_elements(longest_, p_.head_dim));
    GemmParams products;
    products.a = p_.q + row * p_.q_stride + head * p_.head_dim;
    products.a_stride = p_.q_stride;
    products.b = mine;
    products.m = rows;
    products.n = size;
    products.k = p_.head_dim;
    products.c = scores;
    products.c_stride = size;
    kernels_.gemm(products, one);
    hide(scores, first, rows, size);
    SoftmaxParams softmax;
    softmax.x = softmax.y = scores;
    softmax.x_stride = softmax.y_stride = softmax.cols = size;
    softmax.rows = rows;
    softmax.scale = p_.scale;
    if (p_.bias != nullptr) {
      // Row r begins at the distance from query first + r to key 0: one earlier for each query.
      softmax.mask = p_.bias + head * p_.distances + p_.distances / 2 - first;
      softmax.mask_stride = -1;
      softmax.mask_rows = rows;
    }
    kernels_.softmax(softmax, one);
    GemmParams sums;
    sums.a = scores;
    sums.a_stride = size;
    sums.b = values;
    sums.m = rows;
    sums.n = p_.head_dim;
    sums.k = size;
    sums.c = p_.y + row * p_.y_stride + head * p_.head_dim;
    sums.c_stride = p_.y_stride;
    kernels_.gemm(sums, one);
  }

  // Scores of keys that a query does not see.
  void hide(float* scores, int64_t first, int64_t rows, int64_t size) const {
    if (!p_.causal && (p_.window == 0 || p_.window >= size)) return;
    constexpr float kHidden = -std::numeric_limits<float>::infinity();
    for (int64_t r = 0; r < rows; ++r, scores += size) {
      const int64_t query = first + r;
      const int64_t low = p_.window > 0 ? std::max<int64_t>(query - p_.window + 1, 0) : 0;
      const int64_t high = std::min(p_.causal ? query + 1 : p_.window > 0 ? query + p_.window : size, size);
      std::fill(scores, scores + low, kHidden);
      std::fill(scores + high, scores + size, kHidden);
    }
  }

  const kernels::IsaKernels& kernels_;
  const PackedAttention p_;
  const Count boundaries_;
  const int64_t longest_;
  int64_t sequences_ = 0;
  std::byte* scratch_ = nullptr;
  ThreadPool alone_{{.threads = 1}};  // without a thread: the caller as a team of one
};

}  // namespace

Result<std::unique_ptr<Step>> bind_attention_packed(BindContext& c, const graph::Node& node) {
  const auto& in = node.inputs;
  PackedAttention p;
  for (size_t i : {0, 1, 2})
    if (c.slot(in[i]).dtype != DType::f32) return unsupported("queries, keys or values are not f32");
  if (c.slot(in[3]).dtype != DType::i32) return unsupported("the starts are not i32");
  if (node.attrs.real("softcap") != 0) return unsupported("its scores are capped");
  p.heads = node.attrs.integer("heads");
  p.kv_heads = node.attrs.integer("kv_heads");
  p.head_dim = node.attrs.integer("head_dim");
  p.window = node.attrs.integer("window");
  p.causal = node.attrs.boolean("causal");
  p.scale = static_cast<float>(node.attrs.real("scale"));
  const Slot &q = c.slot(in[0]), &k = c.slot(in[1]), &v = c.slot(in[2]), &y = c.slot(node.outputs[0]);
  p.q = q.f32();
  p.q_stride = q.stride;
  p.k = k.f32();
  p.k_stride = k.stride;
  p.v = v.f32();
  p.v_stride = v.stride;
  p.y = y.f32();
  p.y_stride = y.stride;
  p.starts = c.slot(in[3]).i32();
  int64_t longest = c.bound(q.rows);
  if (in.size() > 4 && in[4].valid()) {
    p.bias = c.program().f32_constant(in[4]);
    if (p.bias == nullptr) return unsupported("the bias of distances is no f32 constant");
    p.distances = c.value(in[4]).type.shape[1].size();
    longest = std::min(longest, p.distances / 2 + 1);
  }
  auto step = std::make_unique<PackedAttentionStep>(c.program().kernels(), p, c.slot(in[3]).rows, longest);
  c.want_scratch(step->worker_floats() * 4 * c.workers(), step->scratch());
  return std::unique_ptr<Step>(std::move(step));
}

}  // namespace nereid::runtime
