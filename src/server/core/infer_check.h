// SPDX-License-Identifier: Apache-2.0
// Whether a request fits a model, in the order and with the sentences that clients of the protocol know.
#pragma once

#include "server/core/infer_request.h"
#include "server/core/model_config.h"

namespace nereid::server {

// kInvalidArgument. Puts the inputs into the order of the configuration. `batch` gets the size of the batch (1 where
// the model has none).
Status check_request(const ModelConfig& config, InferRequest* request, int64_t* batch);

// kUnsupported: a text that is too long to name a sequence.
Status check_sequence_name(const SequenceMark& mark);
// "[request id: a] "; clients show it before such sentences.
std::string request_mark(std::string_view id);
// A size of -1 takes any.
bool shape_fits(std::span<const int64_t> want, std::span<const int64_t> have);
// kInvalidArgument: `bytes` are not exactly `elements` texts with their lengths.
Status check_texts(std::string_view input, std::string_view model, std::span<const std::byte> bytes, int64_t elements,
                   std::string_view mark);

}  // namespace nereid::server
