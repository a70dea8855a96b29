// SPDX-License-Identifier: Apache-2.0
// attention with its paged cache, and rope on its own.
#include <algorithm>

#include "runtime/bind_rows.h"

namespace nereid::runtime {
namespace {

constexpr DType kCaches[] = {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::i8};

// True if a node may write over a value that it reads: nobody else sees it, not even as a part of the matrix that it is
// a view into.
bool may_overwrite(const graph::Graph& g, graph::ValueId id) {
  const graph::Value& v = g.value(id);
  if (v.kind != graph::Value::Kind::kResult || g.is_output(id) || g.users(id).size() != 1) return false;
  const graph::Node& producer = g.node(v.producer);
  if (producer.op->name != "split") return true;
  const graph::ValueId source = producer.inputs[0];
  return g.value(source).kind != graph::Value::Kind::kResult || may_overwrite(g, source);
}

}  // namespace

Result<std::unique_ptr<Step>> bind_attention(BindContext& c, const graph::Node& node) {
  const auto& in = node.inputs;
  const Slot &q = c.slot(in[0]), &k = c.slot(in[1]), &v = c.slot(in[2]);
  const Slot &k_cache = c.slot(in[3]), &v_cache = c.slot(in[4]), &table = c.slot(in[7]);
  kernels::AttentionParams p;
  p.heads = static_cast<int>(node.attrs.integer("heads"));
  p.kv_heads = static_cast<int>(node.attrs.integer("kv_heads"));
  p.head_dim = static_cast<int>(node.attrs.integer("head_dim"));
  const Dim& page_tokens = c.value(in[3]).type.shape[2];
  if (!page_tokens.is_static() || page_tokens.size() % 16)
    return unsupported("pages of {} tokens are not a multiple of 16", page_tokens.to_string());
  p.page_tokens = static_cast<int>(page_tokens.size());
  if (p.head_dim % 16 || p.head_dim > kernels::kMaxHeadDim)
    return unsupported("head_dim {} is not a multiple of 16 up to {}", p.head_dim, kernels::kMaxHeadDim);
  p.cache = k_cache.dtype;
  if (v_cache.dtype != p.cache) return unsupported("keys and values are kept in different types");
  if (std::ranges::find(kCaches, p.cache) == std::end(kCaches))
    return unsupported("a cache of {} is not one of f32, f16, bf16, f8e4m3 and i8", dtype_name(p.cache));
  for (const Slot* operand : {&q, &k, &v})
    if (operand->dtype != DType::f32) return unsupported("queries, keys or values are not f32");
  for (size_t i : {5, 6, 7})
    if (c.slot(in[i]).dtype != DType::i32) return unsupported("positions, sequences or pages are not i32");
  p.q = q.f32();
  p.q_stride = q.stride;
  p.k = k.f32();
  p.k_stride = k.stride;
  p.v = v.f32();
  p.v_stride = v.stride;
  p.scale = static_cast<float>(node.attrs.real("scale"));
  p.softcap = static_cast<float>(node.attrs.real("softcap"));
  p.window = node.attrs.integer("window");
  p.positions = c.slot(in[5]).i32();
  p.sequence = c.slot(in[6]).i32();
  p.page_table = table.i32();
  p.pages_per_sequence = table.stride;
  p.k_cache = k_cache.data;
  p.v_cache = v_cache.data;
  if (in.size() > 8 && in[8].valid()) {
    p.rotary_dim = static_cast<int>(2 * c.value(in[8]).type.shape[0].size());
    if (p.rotary_dim > p.head_dim) return unsupported("the rotation is wider than a head");
    if (!may_overwrite(c.graph(), in[0]))
      return unsupported("the queries, which it rotates in place, are used elsewhere");
    NEREID_TRY(p.cos_sin, c.rope_table(in[5], in[8], node.attrs.real("rope_scale")));
    p.rope_interleaved = node.attrs.boolean("rope_interleaved");
  }
  const Slot& y = c.slot(node.outputs[0]);
  p.y = y.f32();
  p.y_stride = y.stride;
  return std::unique_ptr<Step>(std::make_unique<KernelStep<kernels::AttentionParams>>(
      c.program().kernels().attention, p, &kernels::AttentionParams::tokens, q.rows));
}

Result<std::unique_ptr<Step>> bind_rope(BindContext& c, const graph::Node& node) {
  const Slot &x = c.slot(node.inputs[0]), &y = c.slot(node.outputs[0]);
  if (x.dtype != DType::f32 || c.slot(node.inputs[1]).dtype != DType::i32)
    return unsupported("x is not f32 or the positions are not i32");
  kernels::RopeParams p{.x = x.f32(), .x_stride = x.stride, .y = y.f32(), .y_stride = y.stride};
  p.head_dim = static_cast<int>(node.attrs.integer("head_dim"));
  p.heads = static_cast<int>(x.cols / p.head_dim);
  p.rotary_dim = static_cast<int>(2 * c.value(node.inputs[2]).type.shape[0].size());
  p.interleaved = node.attrs.boolean("interleaved");
  NEREID_TRY(p.cos_sin, c.rope_table(node.inputs[1], node.inputs[2], node.attrs.real("scale")));
  return std::unique_ptr<Step>(std::make_unique<KernelStep<kernels::RopeParams>>(c.program().kernels().rope, p,
                                                                                 &kernels::RopeParams::tokens, x.rows));
}

}  // namespace nereid::runtime
