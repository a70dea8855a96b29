// SPDX-License-Identifier: Apache-2.0
// The gated mlp, down(act(gate(x)) * up(x)), and the plain one, down(act(up(x))).
#pragma once

#include "llm/block/block.h"

namespace nereid::llm {

// x [T, hidden] (already normalised) -> [T, hidden], before the residual sum.
Result<graph::ValueId> gated_mlp(Block& block, int64_t layer, graph::ValueId x);

// The same without a gate.
Result<graph::ValueId> plain_mlp(Block& block, int64_t layer, graph::ValueId x);

}  // namespace nereid::llm
