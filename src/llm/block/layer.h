// SPDX-License-Identifier: Apache-2.0
// Whole layers: how norms, attention, mlp and residual sums are ordered. x [T, hidden] -> [T, hidden].
#pragma once

#include "llm/block/block.h"

namespace nereid::llm {

// x += attention(norm(x)); x += mlp(norm(x))                              (Llama, Mistral, Qwen)
Result<graph::ValueId> pre_norm_layer(Block& block, int64_t layer, graph::ValueId x);

// x += norm(attention(norm(x))); x += norm(mlp(norm(x)))                  (Gemma 2, Gemma 3)
Result<graph::ValueId> sandwich_norm_layer(Block& block, int64_t layer, graph::ValueId x);

// x = norm(x + attention(x)); x = norm(x + mlp(x)), norms with a mean, mlp without a gate     (BERT and its family)
Result<graph::ValueId> post_norm_layer(Block& block, int64_t layer, graph::ValueId x);

}  // namespace nereid::llm
