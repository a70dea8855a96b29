// SPDX-License-Identifier: Apache-2.0
// The body of POST /v1/chat/completions.
#pragma once

#include <string>
#include <vector>

#include "server/protocol/openai/answer_reader.h"
#include "server/protocol/openai/chat_messages.h"
#include "server/protocol/openai/chat_tools.h"
#include "server/protocol/openai/common_request.h"

namespace nereid::server::openai {

struct ChatRequest {
  CommonRequest common;
  std::vector<Message> messages;
  ToolSet tools;
  bool has_max_tokens = false;  // else the answer may fill the context
  std::string variables;        // chat_template_kwargs as they were sent; "": none
  bool add_generation_prompt = true;
  ThoughtUse thoughts = ThoughtUse::kSeparate;
};

// Errors: kept in `error`; the request is not whole then.
ChatRequest read_chat(const Json& body, const BodyReader& reader, FirstError* error);

}  // namespace nereid::server::openai
