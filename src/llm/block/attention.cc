// SPDX-License-Identifier: Apache-2.0
// Projections, optional head norms, optional rope, attention, output projection: in that order.
#include "llm/block/attention.h"

#include "llm/block/norm.h"

namespace nereid::llm {
namespace {

using graph::ValueId;

struct Projection {
  Role weight;
  Role bias;
  Role norm;
  std::string_view name;
};
constexpr Projection kQueryProjection = {Role::kQuery, Role::kQueryBias, Role::kQueryNorm, "q"};
constexpr Projection kKeyProjection = {Role::kKey, Role::kKeyBias, Role::kKeyNorm, "k"};

Result<ValueId> linear(Block& b, ValueId x, Role weight, Role bias, int64_t layer, std::string_view name) {
  return b.graph.add("linear", {x, b.weights.get(weight, layer), b.weights.get(bias, layer), {}, {}}, {},
                     Block::name(layer, name));
}

// What queries and keys share: projection, norm, rotation where places have no embeddings of their own.
Result<ValueId> rotated(Block& b, int64_t layer, ValueId x, const Projection& p) {
  NEREID_TRY(ValueId y, linear(b, x, p.weight, p.bias, layer, p.name));
  if (b.weights.has(p.norm, layer)) {
    NEREID_TRY(y, head_norm(b, y, p.norm, layer, Block::name(layer, fmt::format("{}_norm", p.name))));
  }
  if (b.config.ropes.empty()) return y;
  const size_t rope = b.config.spans[static_cast<size_t>(layer)].rope;
  return b.graph.add("rope", {y, b.positions, b.inv_freq[rope]},
                     {{"head_dim", b.config.head_dim},
                      {"interleaved", b.config.ropes[rope].interleaved},
                      {"scale", b.rope_scale[rope]}},
                     Block::name(layer, fmt::format("{}_rope", p.name)));
}

Result<ValueId> cached_attention(Block& b, int64_t layer, ValueId q, ValueId k, ValueId v) {
  const KvCache& cache = b.caches[static_cast<size_t>(layer)];
  return b.graph.add("attention", {q, k, v, cache.keys, cache.values, b.positions, b.sequence, b.page_table, ValueId{}},
                     {{"heads", b.config.heads},
                      {"kv_heads", b.config.kv_heads},
                      {"head_dim", b.config.head_dim},
                      {"scale", b.config.attention_scale},
                      {"window", b.config.spans[static_cast<size_t>(layer)].window},
                      {"softcap", b.config.attention_softcap}},
                     Block::name(layer, "attention"));
}

// All of a text is in the step.
Result<ValueId> packed_attention(Block& b, int64_t layer, ValueId q, ValueId k, ValueId v) {
  return b.graph.add("attention_packed", {q, k, v, b.starts, b.weights.get(Role::kDistanceBias)},
                     {{"heads", b.config.heads},
                      {"kv_heads", b.config.kv_heads},
                      {"head_dim", b.config.head_dim},
                      {"scale", b.config.attention_scale},
                      {"causal", !b.config.bidirectional},
                      {"window", b.config.spans[static_cast<size_t>(layer)].window},
                      {"softcap", b.config.attention_softcap}},
                     Block::name(layer, "attention"));
}

}  // namespace

Result<ValueId> attention(Block& b, int64_t layer, ValueId x) {
  NEREID_TRY(const ValueId q, rotated(b, layer, x, kQueryProjection));
  NEREID_TRY(const ValueId k, rotated(b, layer, x, kKeyProjection));
  NEREID_TRY(const ValueId v, linear(b, x, Role::kValue, Role::kValueBias, layer, "v"));
  NEREID_TRY(const ValueId mixed,
             b.config.encodes ? packed_attention(b, layer, q, k, v) : cached_attention(b, layer, q, k, v));
  return linear(b, mixed, Role::kAttentionOutput, Role::kAttentionOutputBias, layer, "attention_out");
}

}  // namespace nereid::llm
