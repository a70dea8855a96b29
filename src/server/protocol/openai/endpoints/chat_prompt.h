// SPDX-License-Identifier: Apache-2.0
// From a chat's request to the tokens a model reads, with the tools it may call.
#pragma once

#include <string>
#include <vector>

#include "server/core/text_model.h"
#include "server/protocol/openai/chat_request.h"
#include "server/protocol/openai/endpoints/service.h"

namespace nereid::server::openai {

// How a model is told of tools and calls them.
struct ToolUse {
  const ToolFormat* format;
  bool is_told;  // in words, in the system's message: its template knows nothing of tools
};
ToolUse tool_use(const ModelCard& card);

// Where the answer's thoughts begin and how they are told. `prompt`: whether it has begun them. A form that binds the
// answer from its first token on leaves no room for any.
ThoughtOptions thought_options(const TextModel& model, const ChatRequest& request, const TextRequest& prompt);
// The special tokens that stand for the marks of tools (nullptr: there are none) and of thoughts.
Markers answer_markers(const TextModel& model, const ToolFormat* format, const ThoughtOptions& thoughts);

// The template's errors are kept. The request's messages are used up.
std::vector<int32_t> chat_tokens(const TextModel& model, ChatRequest* request, FirstError* error);

// What the model is asked: the prompt, the room there is for the answer, the grammar that tools ask for. Errors are
// kept: no chat model, what the template says, a context that is too short.
TextRequest chat_request(const Service& service, const FoundModel& found, ChatRequest* request, FirstError* error);

}  // namespace nereid::server::openai
