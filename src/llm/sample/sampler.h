// SPDX-License-Identifier: Apache-2.0
// Draws the tokens of one sequence.
//
// One sampler a sequence, used by one thread at a time. It holds no random state: the n-th token is drawn with the n-th
// number of its seed (philox.h), so set_step() is all that a restored or preempted sequence needs. Besides the results
// with log-probabilities nothing is allocated once the scratch has grown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "llm/sample/logits.h"
#include "llm/sample/params.h"
#include "llm/sample/steps.h"

namespace nereid::sample {

struct TokenLogprob {
  int32_t token;
  float logprob;  // natural logarithm
};

struct SampleResult {
  int32_t token;
  float logprob = 0;              // of the token, only if params.logprobs >= 0
  std::vector<TokenLogprob> top;  // the params.logprobs likeliest, best first
};

class Sampler {
 public:
  // `end_tokens` end the text: what min_tokens and ignore_eos hold back. Error: params.validate()'s.
  static Result<Sampler> make(SamplingParams params, std::vector<int32_t> end_tokens = {});

  // `logits` of the whole vocabulary are scratch: changed where a step asks for it. `history` is prompt and answer so
  // far. Log-probabilities are of the logits as given, before any step. Greedy without bias, penalties or
  // log-probabilities is one pass over the logits. NaN counts as -inf; a +inf is drawn, the lowest token first. Error:
  // kInternal when no token is left (all logits -inf or NaN).
  Result<SampleResult> sample(std::span<float> logits, std::span<const int32_t> history);

  // Tokens drawn so far.
  uint64_t step() const { return step_; }
  void set_step(uint64_t step) { step_ = step; }
  const SamplingParams& params() const { return params_; }

 private:
  Sampler(SamplingParams params, std::vector<int32_t> end_tokens);
  void change_logits(std::span<float> logits, std::span<const int32_t> history);
  void gather(std::span<const float> logits);
  int32_t draw_candidate(double u);
  int32_t draw_any(std::span<const float> logits, float best, double u);
  void add_logprobs(std::span<const float> raw, SampleResult* result);

  SamplingParams params_;
  std::vector<int32_t> end_tokens_;
  bool changes_logits_;
  bool filters_;  // some step drops tokens
  uint64_t step_ = 0;
  Candidates candidates_;
  std::vector<float> raw_;
  std::vector<float> maxima_;
  std::vector<int32_t> seen_;
};

}  // namespace nereid::sample
