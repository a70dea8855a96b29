// SPDX-License-Identifier: Apache-2.0
// The last residual stream to logits, only for the rows somebody wants.
#pragma once

#include "llm/block/block.h"

namespace nereid::llm {

// x [T, hidden] -> f32[R, vocab]: rows chosen before the norm, so that a prefill pays for one row, not all.
// The output matrix is the embedding table where the head is tied; a logit soft-cap is applied where there is one.
Result<graph::ValueId> logits_head(Block& block, graph::ValueId x);

}  // namespace nereid::llm
