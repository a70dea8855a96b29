// SPDX-License-Identifier: Apache-2.0
// Fill in the middle: what models that were trained for it want around the text before and after the gap.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "server/core/text_model.h"

namespace nereid::server::openai {

// The prompt whose answer goes between the two; nullopt where the vocabulary shows no such training.
std::optional<std::vector<int32_t>> fill_in_prompt(const TextModel& model, std::string_view before,
                                                   std::string_view after);

}  // namespace nereid::server::openai
