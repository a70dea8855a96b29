// SPDX-License-Identifier: Apache-2.0
// The turns of a chat: read from OpenAI's messages, written as templates want them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/protocol/openai/fields.h"

namespace nereid::server::openai {

struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON as a text, as the model wrote it
};

struct Message {
  std::string role;  // "system", "user", "assistant", "tool"
  std::string content;
  std::string name;
  std::string reasoning;  // what an assistant thought before it answered
  std::vector<ToolCall> tool_calls;
  std::string tool_call_id;
};

// "developer" becomes "system", "function" "tool"; parts of text are joined by line ends. Parts that are no text are
// refused.
std::vector<Message> read_messages(Fields& fields);

// Templates name the tool whose result they show: gives results the name of the latest call before them of their id.
void name_results(std::vector<Message>* messages);

// The array that ChatInput::messages holds: contents as strings, arguments as objects where they are.
std::string template_messages(const std::vector<Message>& messages);

// For templates that know nothing of tools: the tools (`tools_json`) are told in the system's message, in Hermes' way,
// calls and results become text.
std::vector<Message> with_tools_as_text(std::vector<Message> messages, std::string_view tools_json);

}  // namespace nereid::server::openai
