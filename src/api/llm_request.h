// SPDX-License-Identifier: Apache-2.0
// A request of a C caller in the executor's terms.
#pragma once

#include "base/status.h"
#include "llm/run/executor.h"
#include "nereid/llm.h"

namespace nereid::api {

// The prompt's text becomes tokens here. Errors name the field.
Result<llm::Request> read_llm_request(const nereid_llm_request* given, const token::Tokenizer& tokenizer);

}  // namespace nereid::api
