// SPDX-License-Identifier: Apache-2.0
// The names by which clients of TensorRT-LLM's and vLLM's repositories ask, and what each sets. A name means the same
// as an input, as a parameter of the request and as a member of `sampling_parameters`.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "server/backend/llm/infer/ask.h"
#include "server/core/infer_request.h"

namespace nereid::server {

using AskValues = std::span<const InferParameter>;

// kNotFound: no such name. kInvalidArgument: a value of another kind or out of bounds; kUnsupported: one that would
// change the answer in a way that Nereid cannot.
Status take_named(std::string_view name, AskValues values, Ask* ask);
// `sampling_parameters`: a JSON object of such names. kInvalidArgument also for a name that there is not.
Status take_json(std::string_view json, Ask* ask);

}  // namespace nereid::server
