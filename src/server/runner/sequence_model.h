// SPDX-License-Identifier: Apache-2.0
// A loaded version of a model with sequences: as served_model.h, with the sequence batcher for a queue.
#pragma once

#include "server/runner/served_model.h"

namespace nereid::server {

Result<std::shared_ptr<InferModel>> serve_sequence_model(ServedParts parts);

}  // namespace nereid::server
