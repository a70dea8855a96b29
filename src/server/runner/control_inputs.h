// SPDX-License-Identifier: Apache-2.0
// The inputs by which a model with sequences learns of a request's place in its sequence.
#pragma once

#include <vector>

#include "server/core/infer_request.h"
#include "server/core/model_config.h"

namespace nereid::server {

// One tensor of one element for each control of the configuration. `is_ready` false: of a slot without a request.
std::vector<InferTensor> control_inputs(const SequenceBatching& rules, const SequenceMark& mark, bool has_batch,
                                        bool is_ready = true);
// The sequence's name: texts and numbers do not meet.
std::string sequence_key(const SequenceMark& mark);

}  // namespace nereid::server
