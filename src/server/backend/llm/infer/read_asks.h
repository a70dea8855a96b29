// SPDX-License-Identifier: Apache-2.0
// From an inference's tensors and parameters to what each of its prompts asks for.
#pragma once

#include <vector>

#include "server/backend/llm/infer/ask.h"
#include "server/core/infer_request.h"
#include "server/core/model_config.h"

namespace nereid::server {

// One for each prompt: the elements of `text_input`, or the rows of `input_ids`. Other inputs hold one value for all
// prompts, or a row for each. kInvalidArgument, kUnsupported: as take_named (ask_names.h), with the name.
Result<std::vector<Ask>> read_asks(const InferRequest& request, const ModelConfig& config, const TextModel& model,
                                   AskStyle style);

}  // namespace nereid::server
