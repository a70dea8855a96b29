// SPDX-License-Identifier: Apache-2.0
// attention on a device: one launch that norms, rotates and stores, one that attends; and rope on its own.
#include "runtime/device/device_step.h"

namespace nereid::runtime {
namespace {

namespace gpu = kernels::cuda;
using graph::Node;

Result<gpu::Element> cache_element(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return gpu::Element::kF16;
    case DType::bf16:
      return gpu::Element::kBF16;
    case DType::f8e4m3:
      return gpu::Element::kF8E4M3;
    default:
      return unsupported("a cache of {} is not one of f16, bf16 and f8e4m3; choose another with --kv-cache-dtype",
                         dtype_name(dtype));
  }
}

// Keys and values with the norms that come before them.
struct Operands {
  graph::ValueId q, k;
  const float *q_norm = nullptr, *k_norm = nullptr;
  float norm_eps = 0;
};
Result<Operands> operands(DeviceBinder& b, const Node& node) {
  Operands o{.q = node.inputs[0], .k = node.inputs[1]};
  if (const Node* norm = b.absorbed_norm(o.q)) {
    o.q = norm->inputs[0];
    NEREID_TRY(o.q_norm, b.weights().vector(norm->inputs[1]));
    o.norm_eps = static_cast<float>(norm->attrs.real("eps"));
  }
  if (const Node* norm = b.absorbed_norm(o.k)) {
    o.k = norm->inputs[0];
    NEREID_TRY(o.k_norm, b.weights().vector(norm->inputs[1]));
    o.norm_eps = static_cast<float>(norm->attrs.real("eps"));
  }
  return o;
}

// Queries that may be rotated where they lie: a copy where somebody else reads them.
Result<std::byte*> writable(DeviceBinder& b, graph::ValueId id, int64_t* stride) {
  const DeviceSlot& q = b.slot(id);
  *stride = q.stride;
  if (may_overwrite(b.graph(), id)) return q.data;
  NEREID_TRY(std::byte * copy, b.scratch(b.bound(q.rows) * q.cols * 2));
  *stride = q.cols;
  gpu::ScaleAddParams p{.x_element = q.element,
                        .y_element = q.element,
                        .x = q.data,
                        .x_stride = q.stride,
                        .cols = q.cols,
                        .y = copy,
                        .y_stride = q.cols};
  b.add("copy %" + b.graph().value(id).name,
        [p, rows = q.rows, fn = b.kernels().scale_add](const RunShape& s, const gpu::Queue& queue) mutable {
          p.tokens = s.sizes.of(rows);
          fn(p, queue);
        });
  return copy;
}

}  // namespace

Status bind_device_attention(DeviceBinder& b, const Node& node);
Status bind_device_rope(DeviceBinder& b, const Node& node);

Status bind_device_attention(DeviceBinder& b, const Node& node) {
  const auto& in = node.inputs;
  NEREID_TRY(const Operands from, operands(b, node));
  const DeviceSlot &q = b.slot(from.q), &k = b.slot(from.k), &v = b.slot(in[2]), &y = b.slot(node.outputs[0]);
  const DeviceSlot &k_cache = b.slot(in[3]), &v_cache = b.slot(in[4]), &table = b.slot(in[7]);
  const std::string name = b.graph().value(node.outputs[0]).name;
  gpu::RopeKvParams r{.element = b.element()};
  r.heads = static_cast<int>(node.attrs.integer("heads"));
  r.kv_heads = static_cast<int>(node.attrs.integer("kv_heads"));
  r.head_dim = static_cast<int>(node.attrs.integer("head_dim"));
  if (!b.kernels().takes_head_dim(r.head_dim))
    return unsupported("there are no GPU kernels for heads of {}", r.head_dim);
  NEREID_TRY(r.cache, cache_element(b.graph().value(in[3]).type.dtype));
  if (b.graph().value(in[4]).type.dtype != b.graph().value(in[3]).type.dtype)
    return unsupported("keys and values are kept in different types");
  if (r.cache != gpu::Element::kF8E4M3 && r.cache != b.element())
    return unsupported("the cache is of another type than the activations; leave --kv-cache-dtype at auto or fp8");
  const Dim& page_tokens = b.graph().value(in[3]).type.shape[2];
  if (!page_tokens.is_static() || page_tokens.size() % 16 != 0)
    return unsupported("pages of {} tokens are not a multiple of 16", page_tokens.to_string());
  if (in.size() > 8 && in[8].valid()) {
    r.rotary_dim = static_cast<int>(2 * b.graph().value(in[8]).type.shape[0].size());
    r.interleaved = node.attrs.boolean("rope_interleaved");
    NEREID_TRY(r.cos_sin, b.rope_table(in[5], in[8], node.attrs.real("rope_scale")));
  }
  int64_t q_stride = 0;
  NEREID_TRY(r.q, writable(b, from.q, &q_stride));
  r.q_stride = q_stride;
  r.k = k.data;
  r.k_stride = k.stride;
  r.v = v.data;
  r.v_stride = v.stride;
  r.q_norm = from.q_norm;
  r.k_norm = from.k_norm;
  r.norm_eps = from.norm_eps;
  r.positions = b.slot(in[5]).i32();
  r.sequence = b.slot(in[6]).i32();
  r.page_table = table.i32();
  r.pages_per_sequence = table.stride;
  r.page_tokens = static_cast<int>(page_tokens.size());
  r.k_cache = k_cache.data;
  r.v_cache = v_cache.data;
  b.add("rope_kv %" + name,
        [r, rows = q.rows, fn = b.kernels().rope_kv](const RunShape& s, const gpu::Queue& queue) mutable {
          r.tokens = s.sizes.of(rows);
          fn(r, queue);
        });

  gpu::AttentionParams a{.element = b.element(), .q = r.q, .q_stride = q_stride};
  a.heads = r.heads;
  a.kv_heads = r.kv_heads;
  a.head_dim = r.head_dim;
  a.scale = static_cast<float>(node.attrs.real("scale"));
  a.softcap = static_cast<float>(node.attrs.real("softcap"));
  a.window = node.attrs.integer("window");
  a.positions = r.positions;
  a.sequence = r.sequence;
  a.page_table = r.page_table;
  a.pages_per_sequence = r.pages_per_sequence;
  a.page_tokens = r.page_tokens;
  a.cache = r.cache;
  a.k_cache = r.k_cache;
  a.v_cache = r.v_cache;
  a.settled = true;  // positions, sequences and pages are copied up in front of a step
  a.y = y.data;
  a.y_stride = y.stride;
  b.want_attention(a.heads, a.head_dim);
  b.add("attention %" + name,
        [a, rows = q.rows, decode = b.kernels().attention_decode, prefill = b.kernels().attention_prefill](
            const RunShape& s, const gpu::Queue& queue) mutable {
          a.tokens = s.sizes.of(rows);
          a.max_positions = s.max_positions;
          a.workspace = s.attention_workspace;
          if (!s.is_prefill) return decode(a, queue);
          prefill({.common = a, .query_begin = s.query_begin, .blocks = s.blocks, .max_queries = s.max_queries}, queue);
        });
  return Status::ok();
}

// Of x as queries of nobody's cache.
Status bind_device_rope(DeviceBinder& b, const Node& node) {
  const DeviceSlot &x = b.slot(node.inputs[0]), &y = b.slot(node.outputs[0]);
  gpu::RopeKvParams r{.element = b.element(), .q = y.data, .q_stride = y.stride};
  r.head_dim = static_cast<int>(node.attrs.integer("head_dim"));
  if (!b.kernels().takes_head_dim(r.head_dim))
    return unsupported("there are no GPU kernels for heads of {}", r.head_dim);
  r.heads = static_cast<int>(x.cols / r.head_dim);
  r.rotary_dim = static_cast<int>(2 * b.graph().value(node.inputs[2]).type.shape[0].size());
  r.interleaved = node.attrs.boolean("interleaved");
  r.positions = b.slot(node.inputs[1]).i32();
  NEREID_TRY(r.cos_sin, b.rope_table(node.inputs[1], node.inputs[2], node.attrs.real("scale")));
  gpu::ScaleAddParams copy{.x_element = x.element,
                           .y_element = y.element,
                           .x = x.data,
                           .x_stride = x.stride,
                           .cols = x.cols,
                           .y = y.data,
                           .y_stride = y.stride};
  b.add("rope %" + b.graph().value(node.outputs[0]).name,
        [r, copy, rows = x.rows, &kernels = b.kernels()](const RunShape& s, const gpu::Queue& queue) mutable {
          copy.tokens = r.tokens = s.sizes.of(rows);
          kernels.scale_add(copy, queue);
          kernels.rope_kv(r, queue);
        });
  return Status::ok();
}

bool may_overwrite(const graph::Graph& g, graph::ValueId id) {
  const graph::Value& v = g.value(id);
  if (v.kind != graph::Value::Kind::kResult || g.is_output(id) || g.users(id).size() != 1) return false;
  const graph::Node& producer = g.node(v.producer);
  if (producer.op->name != "split") return true;
  const graph::ValueId source = producer.inputs[0];
  return g.value(source).kind != graph::Value::Kind::kResult || may_overwrite(g, source);
}

}  // namespace nereid::runtime
