// SPDX-License-Identifier: Apache-2.0
// From what a user has (JSON text, a time) to what a template takes.
#pragma once

#include <ctime>
#include <string_view>

#include "base/status.h"
#include "llm/chat/chat_template.h"

namespace nereid::chat {

// JSON with the members of objects in their order, which templates print. Errors: kInvalidArgument for what is no JSON
// or nests deeper than 128.
Result<OrderedJson> parse_ordered_json(std::string_view text);

// What transformers does to messages before a template sees them: members that are null go, and reasoning is found
// under each of its names (reasoning_content is filled from thinking or reasoning, and thinking if absent). Error:
// kInvalidArgument unless the messages are a list of objects.
Result<OrderedJson> normalize_messages(const OrderedJson& messages);

// "2025-07-26", "2025-07-26T12:34" or "2025-07-26 12:34:56": local time, for RenderInput::now.
Result<std::tm> parse_iso_time(std::string_view text);

}  // namespace nereid::chat
