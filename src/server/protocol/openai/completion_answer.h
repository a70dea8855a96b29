// SPDX-License-Identifier: Apache-2.0
// The answer to POST /v1/completions.
#pragma once

#include <memory>
#include <vector>

#include "server/protocol/openai/answer_text.h"

namespace nereid::server::openai {

struct CompletionAnswerOptions {
  AnswerHead head;
  StreamOptions stream;
  int32_t n = 1;          // a prompt
  int32_t logprobs = -1;  // as asked for; what the model gives may be more
  bool tokens_as_ids = false;
  struct Echo {
    std::string text;
    int32_t first_token = -1;
  };
  std::vector<Echo> echo;  // one a prompt, or none
  size_t prompts = 1;
  int64_t prompt_tokens = 0;  // of all prompts, for usage as it goes
};

// The model must outlive it.
std::unique_ptr<AnswerText> make_completion_answer(const TextModel& model, CompletionAnswerOptions options);

}  // namespace nereid::server::openai
