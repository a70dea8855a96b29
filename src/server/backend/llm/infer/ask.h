// SPDX-License-Identifier: Apache-2.0
// What one prompt of an inference asks a language model for, by whatever names it was asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/text_model.h"

namespace nereid::server {

// How the repository that a model comes from means what a request leaves out.
enum class AskStyle : uint8_t {
  kPlain,        // the answer alone, greedy, kPlainTokens at most
  kTensorRtLlm,  // the prompt before the answer unless streamed, greedy
  kVllm,         // the prompt before the answer unless streamed, drawn at temperature 1, kVllmTokens at most
};

constexpr int32_t kPlainTokens = 128;  // as `nereid run`
constexpr int32_t kVllmTokens = 16;

struct Ask {
  std::string text;  // the prompt, where it came as text
  TextRequest request;

  bool is_text = true;
  bool streams = false;
  bool is_stop = false;  // ends the request of this id instead of asking for anything
  std::optional<bool> excludes_prompt;
  bool wants_logprobs = false, wants_token_logprobs = false, wants_cumulative = false;
  bool wants_finish = false, wants_input_count = false, wants_output_count = false, wants_times = false;
  int32_t pad = 0;

  // What was given, where leaving it out has a meaning of its own.
  bool has_temperature = false, has_top_k = false, has_top_p = false, has_seed = false, has_max_tokens = false;
  bool has_choices = false;
  std::optional<int32_t> prompt_tokens;        // of input_ids, the rest is padding
  std::vector<std::vector<int32_t>> stop_ids;  // sequences of tokens that end the answer
  std::vector<std::string> bias_words;         // each of whose tokens gets ...
  std::vector<float> bias_weights;             // ... so much
  std::string guide_type, guide;               // what the answer must look like
};

// Fills in what the style says of what was left out, turns words and token sequences into what the sampler knows, and
// the prompt into tokens. kInvalidArgument.
Status finish_ask(const TextModel& model, AskStyle style, Ask* ask);

}  // namespace nereid::server
