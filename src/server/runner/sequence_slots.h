// SPDX-License-Identifier: Apache-2.0
// Slots of the strategy direct: a sequence's place in the batches of its instance, by which a model may keep its state.
// Slots without a request before the last that has one are filled up, and told so by the control READY.
#pragma once

#include <memory>
#include <vector>

#include "server/batch/sequence_batcher.h"
#include "server/runner/sequence_states.h"
#include "server/runner/ticket.h"

namespace nereid::server {

// By the configuration; the strategies differ in what a slot is.
SequenceOptions sequence_options(const ModelConfig& config, size_t instances);
// A model that does not ask for READY could not tell an empty slot from a request: it gets none.
bool fills_slots(const SequenceBatching& rules);
// The tickets by their slots, with fillers of zeros (shaped like the first ticket) between them.
std::vector<std::shared_ptr<Execution>> slots_of(const std::vector<std::shared_ptr<Ticket>>& batch,
                                                 const ModelConfig& config, const SequenceStates& states);

}  // namespace nereid::server
