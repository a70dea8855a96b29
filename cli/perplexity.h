// SPDX-License-Identifier: Apache-2.0
// How well a model foretells a text: exp of the mean negative log-likelihood of its tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "llm/run/language_model.h"

namespace nereid::cli {

inline constexpr int64_t kPerplexityWindow = 512;
// Rows of logits that one window needs; LoadOptions::max_outputs must be as many, and step_tokens a window.
inline constexpr int64_t kPerplexityOutputs = kPerplexityWindow / 2;

struct Perplexity {
  double value = 0;
  int64_t tokens = 0;  // scored
};

// The rule of llama-perplexity: windows of 512 tokens that do not overlap, each computed from an empty cache; a model
// that begins texts with BOS sees it in place of the window's first token; the tokens after the window's middle are
// scored (255 of them); what is left after the last whole window is dropped. Probabilities are computed in f64.
// `progress` is called with the windows done and their number. Errors: kInvalidArgument for a text of less than a
// window, kCancelled on Ctrl-C.
Result<Perplexity> perplexity(llm::LanguageModel& model, ThreadPool& pool, std::span<const int32_t> tokens,
                              const std::function<void(int64_t done, int64_t total)>& progress = {});

// log(softmax(logits)[token]).
double log_probability(std::span<const float> logits, int32_t token);

}  // namespace nereid::cli
