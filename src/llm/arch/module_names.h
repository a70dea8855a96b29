// SPDX-License-Identifier: Apache-2.0
// From a module of a Hugging Face model to the matrices of a built graph: what adapters are attached to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/block/weights.h"

namespace nereid::llm {

// A matrix that a module's product is made with, by the name that the constant had when the graph was built (a fusion
// may since have joined it with others). A fused module has several, top to bottom.
struct ModuleWeight {
  Role role;
  std::string constant;  // "blk.3.attn_q.weight"
};

// Modules as transformers names them, wherever the decoder sits ("model.layers.3.self_attn.q_proj", "lm_head"), of the
// architecture by its canonical name. kNotFound: it has no such linear module, with the names of those that it has.
Result<std::vector<ModuleWeight>> module_weights(std::string_view architecture, std::string_view module);

}  // namespace nereid::llm
