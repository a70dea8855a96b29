// SPDX-License-Identifier: Apache-2.0
// The generate extension: a flat JSON object whose members are inputs, by name, or parameters; and its answers.
#pragma once

#include <string>

#include "server/core/infer_model.h"

namespace nereid::server::kserve {

Result<InferRequest> read_generate_body(std::string_view body, const ModelConfig& config);
// {"OUT":0,"id":"a","model_name":"m","model_version":"1"}: one element alone stands without its array.
std::string generate_answer(const InferModel& model, std::string_view id, const InferResponse& response);

}  // namespace nereid::server::kserve
