// SPDX-License-Identifier: Apache-2.0
// The answer to POST /v1/responses: a body, or events that have names.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/protocol/openai/answer_reader.h"
#include "server/protocol/openai/answer_text.h"
#include "server/protocol/openai/response_request.h"

namespace nereid::server::openai {

struct ResponseAnswerOptions {
  AnswerHead head;
  bool is_stream = false;
  ResponseRequest request;  // what the response repeats
  AnswerReader reader;
  Markers markers;
  size_t max_calls = SIZE_MAX;
  std::string id_prefix = "call_";
  size_t id_letters = 24;
  std::function<uint64_t()> random;
};

std::unique_ptr<AnswerText> make_response_answer(ResponseAnswerOptions options);

}  // namespace nereid::server::openai
