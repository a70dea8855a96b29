// SPDX-License-Identifier: Apache-2.0
// Normalisation by weights of the model.
#pragma once

#include <string_view>

#include "llm/block/block.h"

namespace nereid::llm {

// By the root mean square: x [T, hidden] -> [T, hidden], weight of `role` in `layer` (layer 0 for the final norm).
Result<graph::ValueId> rms_norm(Block& block, graph::ValueId x, Role role, int64_t layer, std::string name);

// The same over each head: x [T, H * head_dim], a weight of one head's width.
Result<graph::ValueId> head_norm(Block& block, graph::ValueId x, Role role, int64_t layer, std::string name);

// To mean 0 and variance 1, times the weight of `role`, plus the bias of `bias` where the model has one.
Result<graph::ValueId> layer_norm(Block& block, graph::ValueId x, Role role, Role bias, int64_t layer,
                                  std::string name);

}  // namespace nereid::llm
