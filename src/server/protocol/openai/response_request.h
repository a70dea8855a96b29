// SPDX-License-Identifier: Apache-2.0
// The body of POST /v1/responses, OpenAI's newer way to ask: read to the chat that it is.
#pragma once

#include <string>

#include "server/protocol/openai/chat_request.h"

namespace nereid::server::openai {

struct ResponseRequest {
  ChatRequest chat;
  // What the response repeats, as it was sent: JSON.
  std::string instructions, metadata, tools, tool_choice, format;
};

// Errors: kept in `error`; the request is not whole then. Nothing is stored, so nothing earlier can be referred to.
ResponseRequest read_response(const Json& body, const BodyReader& reader, FirstError* error);

}  // namespace nereid::server::openai
