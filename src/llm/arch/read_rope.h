// SPDX-License-Identifier: Apache-2.0
// Rotary embedding parameters from a model's files, in each of the three spellings there are.
//
// GGUF: rope.* keys. Hugging Face, older: rope_theta, rope_local_base_freq and rope_scaling. Newer: rope_parameters,
// flat or with one object for full_attention and one for sliding_attention.
#pragma once

#include <vector>

#include "llm/arch/architecture.h"
#include "llm/arch/hyper_parameters.h"
#include "llm/block/model_config.h"

namespace nereid::llm {

// One rope, none where the table's theta is 0, or two (all layers' and windowed layers') where the architecture has a
// local_theta. `config` holds the sizes.
Result<std::vector<RopeConfig>> read_ropes(const Architecture& arch, const HyperParameters& params,
                                           const ModelConfig& config);

// Checks all that rope_table() relies on; call it after divisors stored with the weights have been added.
Status check_rope(const RopeConfig& rope, int64_t head_dim);

}  // namespace nereid::llm
