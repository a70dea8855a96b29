// SPDX-License-Identifier: Apache-2.0
// ModelConfig from a model's files, every number bounds-checked.
#pragma once

#include "llm/arch/architecture.h"
#include "llm/arch/hyper_parameters.h"
#include "llm/block/model_config.h"

namespace nereid::llm {

// `vocab_rows`: rows of the embedding table, taken where the files give no vocabulary size. Does not look at rope
// (read_rope.h) nor at weights. Errors: kInvalidArgument for what is missing or out of bounds, kUnsupported for what is
// well-formed but would silently be computed wrongly (experts, quantised checkpoints of other tools, unknown layers).
Result<ModelConfig> read_config(const Architecture& arch, const HyperParameters& params, int64_t vocab_rows);

}  // namespace nereid::llm
