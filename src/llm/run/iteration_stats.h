// SPDX-License-Identifier: Apache-2.0
// What one step of an executor did: its time, who was in it, tokens, pages.
#pragma once

#include <cstdint>

namespace nereid::llm {

struct IterationStats {
  int64_t iteration = 0;   // 1, 2, ... of the executor
  int64_t begin_us = 0;    // of a clock that only grows (base/clock.h)
  int64_t latency_us = 0;  // from the plan to the last token drawn
  int64_t model_us = 0;    // of it, in the model
  // Requests after the step, and what became of some in it.
  int64_t requests_running = 0, requests_waiting = 0;
  int64_t requests_started = 0, requests_ended = 0, requests_paused = 0;
  // Sequences of the step: parts of prompts, and answers that go on.
  int64_t prompt_sequences = 0, answer_sequences = 0;
  int64_t prompt_tokens = 0, answer_tokens = 0;         // that were run; guesses are among the answers'
  int64_t draft_tokens = 0, accepted_tokens = 0;        // guesses, and those that were right
  int64_t reused_tokens = 0;                            // of the prompts that started: found in the cache
  int64_t pages = 0, pages_used = 0, pages_cached = 0;  // of the key/value cache
};

// So many of the latest are kept for whoever asks.
constexpr int64_t kIterationsKept = 1024;

}  // namespace nereid::llm
