// SPDX-License-Identifier: Apache-2.0
// A request that the executor has taken: its answers in the making, and whom to tell.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "llm/run/answer.h"
#include "llm/run/beam_answer.h"
#include "llm/run/executor.h"

namespace nereid::llm {

struct ActiveRequest {
  // Checks the request and prepares its answers; takes as long as its grammar needs to be compiled. Any thread. The
  // pages hold at most `longest_sequence` tokens of prompt and answer. Errors: what Executor::enqueue says of the
  // request itself.
  static Result<std::unique_ptr<ActiveRequest>> make(LanguageModel& model, const AdapterSet& adapters,
                                                     int64_t longest_sequence, Request request, OutputFn on_output);

  bool wants_answer() const { return request.params.max_tokens > 0; }
  // More answers are drawn than are told: all are kept until it is known which.
  bool chooses() const { return static_cast<int64_t>(answers.size()) > request.choices; }
  // The likeliest of the answers kept, as choices 0, 1, ...; when all have ended.
  std::vector<Output> best_answers();
  // Tokens of the prompt whose log-probabilities are still to come.
  int64_t prompt_to_come() const { return static_cast<int64_t>(prompt.size()) - prompt_known; }
  // Sets prompt[position], the log-probability of the prompt's token position + 1, from the logits of `position`. Any
  // thread, one a position.
  void take_prompt_logits(int64_t position, std::span<const float> logits);
  RequestId id;
  Request request;
  OutputFn on_output;
  AdapterPtr adapter;                 // null: none
  std::vector<Answer> answers;        // one a choice, or best_of
  std::vector<Output> kept;           // if it chooses
  std::unique_ptr<BeamAnswer> beams;  // in place of answers, for a beam search
  int64_t open_answers = 0;
  bool has_started = false;
  int64_t most_tokens = 0;  // of each answer
  int64_t expires_us = 0;   // 0: never
  int64_t reused_tokens = 0;
  std::vector<sample::SampleResult> prompt;  // of each token but the first; empty unless wanted
  int64_t prompt_known = 0;                  // so many of them
};

}  // namespace nereid::llm
