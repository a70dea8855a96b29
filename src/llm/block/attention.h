// SPDX-License-Identifier: Apache-2.0
// Grouped-query attention, with rotary positions where the model has them, over a paged cache or within a step.
#pragma once

#include "llm/block/block.h"

namespace nereid::llm {

// x [T, hidden] (already normalised) -> [T, hidden], before the residual sum.
// Biases of q, k, v, o and per-head norms of q and k (before rope) are applied where the model has them.
Result<graph::ValueId> attention(Block& block, int64_t layer, graph::ValueId x);

}  // namespace nereid::llm
