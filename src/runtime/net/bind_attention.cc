// SPDX-License-Identifier: Apache-2.0
// Attention over whole tensors: products of queries and keys, softmax with a mask, products with values.
//
// Where there are heads enough, each worker does heads of its own, some queries at a time, so that their scores stay in
// L2 between the three (ViT-S: 1.18 ms a layer for all heads at once). With few heads the team does one sample after
// the other, its heads side by side.
#include <algorithm>
#include <cmath>

#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::GemmPackParams;
using kernels::GemmParams;
using kernels::SoftmaxParams;

constexpr int64_t kBlockBytes = 64 << 10;  // of scores that a worker makes at a time

// How [samples, heads, steps, width] lies in memory; three dimensions have the heads inside the rows.
struct HeadLayout {
  int64_t samples, heads, steps, width;
  int64_t sample_stride, head_stride, step_stride;
};

Result<HeadLayout> layout_of(const std::vector<int64_t>& s, int64_t heads) {
  if (s.size() == 4) return HeadLayout{s[0], s[1], s[2], s[3], s[1] * s[2] * s[3], s[2] * s[3], s[3]};
  if (s.size() != 3 || heads < 1) return unsupported("an operand has {} dimensions", s.size());
  return HeadLayout{s[0], heads, s[1], s[2] / heads, s[1] * s[2], s[2] / heads, s[2]};
}

class AttentionStep final : public NetStep {
 public:
  explicit AttentionStep(const kernels::IsaKernels& kernels) : kernels_(kernels) { kernel = "attention"; }

  void run(Worker& worker) override {
    if (!by_heads) return run_together(worker);
    const auto [begin, end] = worker.slice(samples * products.outer.count);
    auto* mine = reinterpret_cast<float*>(memory + worker.index() * worker_bytes);
    alone_.run([&](Worker& one) {
      for (int64_t unit = begin; unit < end; ++unit)
        run_head(unit / products.outer.count, unit % products.outer.count, mine, one);
    });
  }

  // Heads of a worker, or of the team.
  bool by_heads = false;
  int64_t block = 0;         // queries at a time
  int64_t worker_bytes = 0;  // of scratch
  bool mask_by_head = false, mask_by_query = false;

 private:
  // One head of keys and values with its group of query heads.
  void run_head(int64_t b, int64_t head, float* scratch, Worker& one) {
    float* packed_keys = scratch;
    float* packed_values = packed_keys + products.outer.b;
    float* scores = packed_values + sums.outer.b;
    GemmPackParams k = pack_keys, v = pack_values;
    k.batch = v.batch = 1;
    k.b = keys + b * key_stride + head * pack_keys.b_batch_stride;
    k.packed = packed_keys;
    v.b = values + b * value_stride + head * pack_values.b_batch_stride;
    v.packed = packed_values;
    kernels_.gemm_pack(k, one);
    kernels_.gemm_pack(v, one);
    for (int64_t g = 0; g < products.inner.count; ++g)
      for (int64_t first = 0; first < products.m; first += block) {
        const int64_t rows = std::min(block, products.m - first), query_head = head * products.inner.count + g;
        GemmParams p = products;
        p.outer = p.inner = {};
        p.m = rows;
        p.a = queries + b * query_stride + query_head * products.inner.a + first * p.a_stride;
        p.b = packed_keys;
        p.c = scores;
        kernels_.gemm(p, one);
        SoftmaxParams s = softmax;
        s.rows = rows;
        s.x = s.y = scores;
        if (mask != nullptr) {
          const int64_t row =
              (mask_by_head ? query_head * (mask_by_query ? products.m : 1) : 0) + (mask_by_query ? first : 0);
          s.mask = mask + b * mask_sample_stride + row * softmax.mask_stride;
          s.mask_rows = mask_by_query ? rows : 1;
          s.mask_repeat = 1;
        }
        kernels_.softmax(s, one);
        GemmParams y = sums;
        y.outer = y.inner = {};
        y.m = rows;
        y.a = scores;
        y.b = packed_values;
        y.c = result + b * result_stride + query_head * sums.inner.c + first * y.c_stride;
        kernels_.gemm(y, one);
      }
  }

  void run_together(Worker& worker) {
    auto* packed_keys = reinterpret_cast<float*>(memory);
    float* packed_values = packed_keys + keys_elements;
    float* scores = packed_values + values_elements;
    for (int64_t b = 0; b < samples; ++b) {
      GemmPackParams k = pack_keys, v = pack_values;
      k.b = keys + b * key_stride;
      k.packed = packed_keys;
      v.b = values + b * value_stride;
      v.packed = packed_values;
      kernels_.gemm_pack(k, worker);
      kernels_.gemm_pack(v, worker);
      worker.barrier();
      GemmParams p = products;
      p.a = queries + b * query_stride;
      p.b = packed_keys;
      p.c = scores;
      kernels_.gemm(p, worker);
      worker.barrier();
      SoftmaxParams s = softmax;
      s.x = s.y = scores;
      if (mask != nullptr) s.mask = mask + b * mask_sample_stride;
      kernels_.softmax(s, worker);
      worker.barrier();
      GemmParams y = sums;
      y.a = scores;
      y.b = packed_values;
      y.c = result + b * result_stride;
      kernels_.gemm(y, worker);
      worker.barrier();
    }
  }

 public:
  GemmPackParams pack_keys, pack_values;
  GemmParams products, sums;
  SoftmaxParams softmax;
  const float *queries = nullptr, *keys = nullptr, *values = nullptr, *mask = nullptr;
  float* result = nullptr;
  std::byte* memory = nullptr;
  int64_t samples = 0, keys_elements = 0, values_elements = 0;
  int64_t query_stride = 0, key_stride = 0, value_stride = 0, mask_sample_stride = 0, result_stride = 0;

 private:
  const kernels::IsaKernels& kernels_;
  ThreadPool alone_{{.threads = 1}};  // without a thread: the caller as a team of one
};

// The mask as softmax reads it: [samples or 1, heads or 1, queries or 1, keys], missing dimensions in front being 1.
Status bind_mask(NetBinder& binder, graph::ValueId id, const HeadLayout& q, int64_t keys, AttentionStep& step) {
  if (binder.dtype(id) != DType::f32) return unsupported("the mask is {}", dtype_name(binder.dtype(id)));
  std::vector<int64_t> s = binder.sizes(id);
  while (s.size() < 4) s.insert(s.begin(), 1);
  if (s[3] != keys) return unsupported("the mask is broadcast over keys");
  const bool by_head = s[1] == q.heads && q.heads > 1, by_query = s[2] == q.steps && q.steps > 1;
  if ((s[1] != 1 && !by_head) || (s[2] != 1 && !by_query)) return unsupported("the mask does not fit the heads");
  step.mask_by_head = by_head;
  step.mask_by_query = by_query;
  step.softmax.mask_stride = keys;
  step.softmax.mask_rows = (by_head ? q.heads : 1) * (by_query ? q.steps : 1);
  step.softmax.mask_repeat = by_query ? 1 : by_head ? q.steps : q.heads * q.steps;
  if (s[0] > 1) step.mask_sample_stride = s[1] * s[2] * s[3];
  binder.point(id, &step.mask);
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_scaled_dot_attention(NetBinder& binder, const graph::Node& node) {
  const std::span<const graph::ValueId> inputs = node.inputs;
  NEREID_RETURN_IF_ERROR(binder.expect_f32(inputs.first(3)));
  for (size_t i = 4; i < inputs.size(); ++i)
    if (inputs[i].valid()) return unsupported("it has a past or lengths");
  const ops::Attrs& a = node.attrs;
  if (a.boolean("is_causal") || a.integer("left_window_size") >= 0 || a.integer("right_window_size") >= 0)
    return unsupported("it masks by position");
  if (a.real("softcap") != 0 || a.boolean("present") || a.boolean("scores"))
    return unsupported("its scores are capped or wanted");
  NEREID_TRY(const HeadLayout q, layout_of(binder.sizes(inputs[0]), a.integer("q_num_heads")));
  NEREID_TRY(const HeadLayout k, layout_of(binder.sizes(inputs[1]), a.integer("kv_num_heads")));
  NEREID_TRY(const HeadLayout v, layout_of(binder.sizes(inputs[2]), a.integer("kv_num_heads")));
  NEREID_TRY(const HeadLayout y, layout_of(binder.sizes(node.outputs[0]), q.heads));
  if (q.samples * q.heads * q.steps * k.steps * q.width * v.width == 0)
    return unsupported("there is nothing to compute");
  const int64_t group = q.heads / k.heads;

  auto step = std::make_unique<AttentionStep>(binder.kernels());
  const int64_t packed_key = kernels::gemm_packed_elements(q.width, k.steps);
  const int64_t packed_value = kernels::gemm_packed_elements(k.steps, v.width);
  step->samples = q.samples;
  step->query_stride = q.sample_stride;
  step->key_stride = k.sample_stride;
  step->value_stride = v.sample_stride;
  step->result_stride = y.sample_stride;
  step->keys_elements = packed_key * k.heads;
  step->values_elements = packed_value * v.heads;
  step->pack_keys = {.b_stride = k.step_stride,
                     .transposed = true,
                     .k = k.width,
                     .n = k.steps,
                     .batch = k.heads,
                     .b_batch_stride = k.head_stride};
  step->pack_values = {
      .b_stride = v.step_stride, .k = v.steps, .n = v.width, .batch = v.heads, .b_batch_stride = v.head_stride};
  const int64_t head_scores = q.steps * k.steps;
  GemmParams& p = step->products;
  p.a_stride = q.step_stride;
  p.m = q.steps;
  p.n = k.steps;
  p.k = q.width;
  p.c_stride = k.steps;
  p.inner = {.count = group, .a = q.head_stride, .b = 0, .c = head_scores};
  p.outer = {.count = k.heads, .a = group * q.head_stride, .b = packed_key, .c = group * head_scores};
  GemmParams& s = step->sums;
  s.a_stride = k.steps;
  s.m = q.steps;
  s.n = v.width;
  s.k = k.steps;
  s.c_stride = y.step_stride;
  s.inner = {.count = group, .a = head_scores, .b = 0, .c = y.head_stride};
  s.outer = {.count = k.heads, .a = group * head_scores, .b = packed_value, .c = group * y.head_stride};
  SoftmaxParams& soft = step->softmax;
  soft.rows = q.heads * q.steps;
  soft.cols = soft.x_stride = soft.y_stride = k.steps;
  soft.scale = static_cast<float>(a.real("scale") != 0 ? a.real("scale") : 1 / std::sqrt(static_cast<double>(q.width)));
  if (kernels::gemm_scratch_bytes(p, binder.workers()) > 0 || kernels::gemm_scratch_bytes(s, binder.workers()) > 0)
    return unsupported("a product wants scratch of its own");
  binder.point(inputs[0], &step->queries);
  binder.point(inputs[1], &step->keys);
  binder.point(inputs[2], &step->values);
  if (inputs.size() > 3 && inputs[3].valid()) NEREID_RETURN_IF_ERROR(bind_mask(binder, inputs[3], q, k.steps, *step));
  binder.point(node.outputs[0], &step->result);
  const int64_t units = q.samples * k.heads, workers = binder.workers();
  step->by_heads = units % workers == 0 || units >= 4 * workers;
  if (step->by_heads) {
    step->block = std::clamp<int64_t>(kBlockBytes / 4 / k.steps / 14 * 14, 14, q.steps < 14 ? 14 : q.steps);
    step->worker_bytes = ((packed_key + packed_value + step->block * k.steps) * 4 + 63) / 64 * 64;
    binder.want_scratch(workers * step->worker_bytes, &step->memory);
    return std::unique_ptr<NetStep>(std::move(step));
  }
  binder.want_scratch((step->keys_elements + step->values_elements + q.heads * head_scores) * 4, &step->memory);
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
