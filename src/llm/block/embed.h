// SPDX-License-Identifier: Apache-2.0
// Token ids to the first residual stream.
#pragma once

#include "llm/block/block.h"

namespace nereid::llm {

// i32[T] -> f32[T, hidden], times ModelConfig::embedding_scale where that is not 1.
Result<graph::ValueId> embed_tokens(Block& block);

}  // namespace nereid::llm
