// SPDX-License-Identifier: Apache-2.0
// How `nereid run` shows an answer: text as it becomes final, or one JSON object a prompt.
#pragma once

#include <string>

#include "base/json.h"
#include "llm/run/generate.h"

namespace nereid::cli {

// Writes to stdout at once; kUnavailable when nobody can read it any more or the disk is full.
Status write_out(std::string_view text);

struct AnswerOptions {
  std::shared_ptr<const runtime::Adapter> adapter = {};  // what the model answers with besides; null: nothing
  llm::DraftModel* draft = nullptr;                      // who guesses for it, so many tokens at a time; null: nobody
  int32_t draft_tokens = 0;
  bool json = false;
  bool statistics = true;  // a line on stderr after the answer
};

// Generates and shows one answer. Cancelled answers are results, not errors: the caller looks at finish_reason.
Result<llm::Generated> show_answer(llm::Generator& generator, const llm::LanguageModel& model,
                                   std::span<const int32_t> prompt, const sample::SamplingParams& params,
                                   const AnswerOptions& options, const std::function<bool()>& go_on = {});

// The contract's object: prompt_tokens, tokens, text, finish_reason, time_to_first_token_ms, tokens_per_second; and
// `logprobs`, one entry a token, when they were asked for.
nlohmann::ordered_json answer_json(const llm::Generated& answer);

}  // namespace nereid::cli
