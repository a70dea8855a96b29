// SPDX-License-Identifier: Apache-2.0
// What a step gave one answer: a token, the text that has become final, and how it ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/sample/sampler.h"

namespace nereid::llm {

enum class FinishReason : uint8_t { kStop, kLength, kCancelled, kTimeout };
std::string_view finish_reason_name(FinishReason reason);  // "stop", "length", "cancelled", "timeout"

struct Output {
  uint64_t request = 0;                              // RequestId of the executor; 0 elsewhere
  int32_t choice = 0;                                // which of the request's answers
  int32_t token = -1;                                // -1: no new token (an end without one)
  std::string text;                                  // has become final: whole characters, no beginning of a stop text
  sample::SampleResult sample;                       // of the token, with log-probabilities where they were asked for
  bool is_last = false;                              // of this answer
  FinishReason finish_reason = FinishReason::kStop;  // of the last
  Status status;              // of the last; not ok where the request failed (finish_reason says nothing)
  int64_t prompt_tokens = 0;  // with the last
  int64_t reused_tokens = 0;  // with the last: of the prompt, found in the cache
  int64_t answer_tokens = 0;  // with the last: of this answer
  std::vector<sample::SampleResult> prompt;  // with the first output of answer 0, where prompt_logprobs asked for it
};

}  // namespace nereid::llm
