// SPDX-License-Identifier: Apache-2.0
// Token ids to the first residual stream.
#include "llm/block/embed.h"

#include "llm/block/norm.h"

namespace nereid::llm {

using graph::ValueId;

Result<ValueId> embed_tokens(Block& b) {
  NEREID_TRY(const ValueId x,
             b.graph.add("embedding", {b.tokens, b.weights.get(Role::kTokenEmbedding)}, {}, "embedded"));
  if (b.config.embedding_scale == 1) return x;
  return b.graph.add("scale", {x}, {{"factor", b.config.embedding_scale}}, "embedded_scaled");
}

Result<ValueId> embed_places(Block& b) {
  NEREID_TRY(ValueId x, embed_tokens(b));
  const auto add = [&](ValueId ids, Role table, std::string_view name) -> Status {
    NEREID_TRY(const ValueId more, b.graph.add("embedding", {ids, b.weights.get(table)}, {}, std::string(name)));
    NEREID_TRY(x, b.graph.add("add", {x, more}, {}, fmt::format("{}_sum", name)));
    return Status::ok();
  };
  NEREID_RETURN_IF_ERROR(add(b.positions, Role::kPositionEmbedding, "places"));
  if (b.types.valid()) NEREID_RETURN_IF_ERROR(add(b.types, Role::kTypeEmbedding, "types_of_texts"));
  return layer_norm(b, x, Role::kEmbeddingNorm, Role::kEmbeddingNormBias, 0, "embedded_norm");
}

}  // namespace nereid::llm
