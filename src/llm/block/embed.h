// SPDX-License-Identifier: Apache-2.0
// Token ids to the first residual stream.
#pragma once

#include "llm/block/block.h"

namespace nereid::llm {

// i32[T] -> f32[T, hidden], times ModelConfig::embedding_scale where that is not 1.
Result<graph::ValueId> embed_tokens(Block& block);

// The same, plus the embeddings of places and of types where the model has them, normalised.
Result<graph::ValueId> embed_places(Block& block);

}  // namespace nereid::llm
