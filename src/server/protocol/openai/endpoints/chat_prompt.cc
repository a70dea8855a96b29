// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/endpoints/chat_prompt.h"

namespace nereid::server::openai {
namespace {

// What models that no template taught are asked to write.
constexpr std::string_view kToldFormat = "hermes";

bool uses_tools(const std::vector<Message>& messages) {
  for (const Message& message : messages)
    if (!message.tool_calls.empty() || message.role == "tool") return true;
  return false;
}

}  // namespace

ToolUse tool_use(const ModelCard& card) {
  const ToolFormat* own = find_tool_format(card.tool_format);
  return own ? ToolUse{own, false} : ToolUse{find_tool_format(kToldFormat), true};
}

std::map<int32_t, std::string> tool_markers(const TextModel& model, const ToolFormat& format) {
  std::map<int32_t, std::string> found;
  for (const std::string_view mark : format.markers) {
    const std::vector<int32_t> ids = model.tokenize(mark, false, true);
    if (ids.size() == 1) found.emplace(ids[0], mark);
  }
  return found;
}

std::vector<int32_t> chat_tokens(const TextModel& model, ChatRequest* request, FirstError* error) {
  const ToolUse use = tool_use(model.card());
  const std::string tools = request->tools.is_used() ? request->tools.json() : "";
  std::vector<Message> messages = std::move(request->messages);
  if (use.is_told && (!tools.empty() || uses_tools(messages)))
    messages = with_tools_as_text(std::move(messages), tools);
  const std::string json = template_messages(messages);
  Result<std::vector<int32_t>> tokens = model.chat_prompt({.messages = json,
                                                           .tools = use.is_told ? std::string_view() : tools,
                                                           .variables = request->variables,
                                                           .add_generation_prompt = request->add_generation_prompt});
  if (tokens.is_ok()) return std::move(*tokens);
  error->set(api_error(tokens.status(), "messages"));
  return {};
}

}  // namespace nereid::server::openai
