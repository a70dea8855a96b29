// SPDX-License-Identifier: Apache-2.0
// What the last residual stream is for: logits of the rows somebody wants, vectors of all tokens, or scores of texts.
#pragma once

#include "llm/block/block.h"

namespace nereid::llm {

// x [T, hidden] -> f32[R, vocab]: rows chosen before the norm, so that a prefill pays for one row, not all.
// The output matrix is the embedding table where the head is tied; a logit soft-cap is applied where there is one.
Result<graph::ValueId> logits_head(Block& block, graph::ValueId x);

// x [T, hidden] -> f32[T, hidden]: normalised as for logits, which a decoder that encodes does not make.
Result<graph::ValueId> hidden_head(Block& block, graph::ValueId x);

// x [T, hidden] -> x, or where the model classifies f32[R, labels]: classifier(act(pooler(row))), each row a text's
// first token. The activation is ModelConfig::pooler_activation.
Result<graph::ValueId> encoder_head(Block& block, graph::ValueId x);

}  // namespace nereid::llm
