// SPDX-License-Identifier: Apache-2.0
// The answer to POST /v1/chat/completions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/protocol/openai/answer_reader.h"
#include "server/protocol/openai/answer_text.h"

namespace nereid::server::openai {

struct ChatAnswerOptions {
  AnswerHead head;
  StreamOptions stream;
  int32_t n = 1;
  int32_t logprobs = -1;  // -1: none; else so many alternatives
  bool tokens_as_ids = false;
  int64_t prompt_tokens = 0;

  // Makes one a choice, before make_chat_answer returns; none where no tools are.
  std::function<std::unique_ptr<ToolParser>()> make_parser;
  ThoughtOptions thoughts;
  Markers markers;
  std::string finish_with_calls = "tool_calls";
  bool is_legacy = false;  // "function_call" in place of "tool_calls"
  size_t max_calls = SIZE_MAX;
  std::string id_prefix = "call_";
  size_t id_letters = 24;
  std::function<uint64_t()> random;
};

// The model must outlive it.
std::unique_ptr<AnswerText> make_chat_answer(const TextModel& model, ChatAnswerOptions options);

}  // namespace nereid::server::openai
