// SPDX-License-Identifier: Apache-2.0
// Token ids to the first residual stream.
#include "llm/block/embed.h"

namespace nereid::llm {

using graph::ValueId;

Result<ValueId> embed_tokens(Block& b) {
  NEREID_TRY(const ValueId x,
             b.graph.add("embedding", {b.tokens, b.weights.get(Role::kTokenEmbedding)}, {}, "embedded"));
  if (b.config.embedding_scale == 1) return x;
  return b.graph.add("scale", {x}, {{"factor", b.config.embedding_scale}}, "embedded_scaled");
}

}  // namespace nereid::llm
