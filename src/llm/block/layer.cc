// SPDX-License-Identifier: Apache-2.0
// Whole layers: how norms, attention, mlp and residual sums are ordered.
#include "llm/block/layer.h"

#include "llm/block/attention.h"
#include "llm/block/mlp.h"
#include "llm/block/norm.h"

namespace nereid::llm {

using graph::ValueId;

Result<ValueId> pre_norm_layer(Block& b, int64_t layer, ValueId x) {
  const auto name = [layer](std::string_view part) { return Block::name(layer, part); };
  NEREID_TRY(const ValueId attention_in, rms_norm(b, x, Role::kAttentionNorm, layer, name("attention_norm")));
  NEREID_TRY(const ValueId mixed, attention(b, layer, attention_in));
  NEREID_TRY(const ValueId middle, b.graph.add("add", {x, mixed}, {}, name("attention_sum")));
  NEREID_TRY(const ValueId mlp_in, rms_norm(b, middle, Role::kMlpNorm, layer, name("mlp_norm")));
  NEREID_TRY(const ValueId fed, gated_mlp(b, layer, mlp_in));
  return b.graph.add("add", {middle, fed}, {}, name("mlp_sum"));
}

Result<ValueId> sandwich_norm_layer(Block& b, int64_t layer, ValueId x) {
  const auto name = [layer](std::string_view part) { return Block::name(layer, part); };
  NEREID_TRY(const ValueId attention_in, rms_norm(b, x, Role::kAttentionNorm, layer, name("attention_norm")));
  NEREID_TRY(ValueId mixed, attention(b, layer, attention_in));
  NEREID_TRY(mixed, rms_norm(b, mixed, Role::kPostAttentionNorm, layer, name("post_attention_norm")));
  NEREID_TRY(const ValueId middle, b.graph.add("add", {x, mixed}, {}, name("attention_sum")));
  NEREID_TRY(const ValueId mlp_in, rms_norm(b, middle, Role::kMlpNorm, layer, name("mlp_norm")));
  NEREID_TRY(ValueId fed, gated_mlp(b, layer, mlp_in));
  NEREID_TRY(fed, rms_norm(b, fed, Role::kPostMlpNorm, layer, name("post_mlp_norm")));
  return b.graph.add("add", {middle, fed}, {}, name("mlp_sum"));
}

Result<ValueId> post_norm_layer(Block& b, int64_t layer, ValueId x) {
  const auto name = [layer](std::string_view part) { return Block::name(layer, part); };
  NEREID_TRY(const ValueId mixed, attention(b, layer, x));
  NEREID_TRY(ValueId middle, b.graph.add("add", {x, mixed}, {}, name("attention_sum")));
  NEREID_TRY(middle,
             layer_norm(b, middle, Role::kAttentionNorm, Role::kAttentionNormBias, layer, name("attention_norm")));
  NEREID_TRY(const ValueId fed, plain_mlp(b, layer, middle));
  NEREID_TRY(const ValueId sum, b.graph.add("add", {middle, fed}, {}, name("mlp_sum")));
  return layer_norm(b, sum, Role::kMlpNorm, Role::kMlpNormBias, layer, name("mlp_norm"));
}

}  // namespace nereid::llm
