// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of a language model whose configuration names none.
#pragma once

#include "server/backend/llm/infer/ask.h"
#include "server/core/model_config.h"

namespace nereid::server {

enum class AskForm : uint8_t { kText, kTokens };

// Inputs, outputs, and that it may answer many times.
ConfigCompletion known_tensors(AskStyle style, AskForm form);

}  // namespace nereid::server
