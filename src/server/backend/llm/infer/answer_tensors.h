// SPDX-License-Identifier: Apache-2.0
// What a language model has answered, as the tensors that clients of its repository know.
#pragma once

#include <string>
#include <vector>

#include "server/backend/llm/infer/ask.h"
#include "server/core/infer_request.h"
#include "server/core/model_config.h"

namespace nereid::server {

// Of one answer to one prompt: all of it, or what has come since the last response.
struct AnswerPart {
  int32_t prompt = 0, choice = 0;
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<sample::SampleResult> samples;  // with log-probabilities where they were asked for
  double cumulative = 0;                      // of the log-probabilities since the beginning
  const char* finish = nullptr;               // "stop", "length"; nullptr: not yet
  int64_t prompt_tokens = 0, reused_tokens = 0;
  int64_t first_token_ns = 0, last_token_ns = 0;
};

struct AnswerNeeds {
  const ModelConfig& config;
  const TextModel& model;
  const std::vector<std::string>& outputs;  // those that the request names; none: all that are due
  const Ask& ask;                           // the first prompt's; what it wants goes for all
  int32_t prompts = 1, choices = 1;         // of `parts`, prompt by prompt
  int64_t arrival_ns = 0;
};

// The outputs of a response. What nobody asked for (log-probabilities, counts, times) is in it only where the request
// names the output, then with zeros.
std::vector<InferTensor> answer_tensors(const AnswerNeeds& needs, const std::vector<AnswerPart>& parts);

// An output that the backend knows.
bool is_answer(std::string_view name);

}  // namespace nereid::server
