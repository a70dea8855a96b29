// SPDX-License-Identifier: Apache-2.0
// Tensors that tell a model where the requests of a batch begin and end when their sizes differ (batch_input), and the
// sizes by which its outputs are cut up (batch_output).
//
// An input with allow_ragged_batch is laid end to end: one row of all requests' elements.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "server/core/infer_tensor.h"
#include "server/core/model_config.h"

namespace nereid::server {

// One tensor for each target of `rule`, with the same bytes. `sources`: the rule's input of each request, in order,
// with the batch dimension where the model has one; nullptr: a request without it. kInvalidArgument: more elements than
// the type of the tensor can count, or requests with different numbers of sizes (item shapes).
Result<std::vector<InferTensor>> batch_inputs(const BatchInput& rule, std::span<const InferTensor* const> sources,
                                              bool has_batch);

}  // namespace nereid::server
