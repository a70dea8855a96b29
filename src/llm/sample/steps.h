// SPDX-License-Identifier: Apache-2.0
// The chain from logits to the tokens that may be drawn: two small ordered tables, one file a step.
//
// The order is llama.cpp's default: logit bias, penalties, top-k, typical, top-p, min-p, temperature (its dry,
// top-n-sigma and xtc steps, which are off by default there, do not exist here). Each filter measures probabilities
// among the tokens that the steps before it left, and none ever drops the last token.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "llm/sample/logits.h"
#include "llm/sample/params.h"

namespace nereid::sample {

// Steps that change single logits of the whole vocabulary.
struct LogitContext {
  const SamplingParams& params;
  std::span<float> logits;
  std::span<const int32_t> history;     // prompt and answer so far, oldest first
  std::span<const int32_t> end_tokens;  // that end the text
  uint64_t step;                        // tokens drawn before
  std::vector<int32_t>* scratch;        // keeps its memory
};

struct LogitStep {
  std::string_view name;
  bool (*is_active)(const SamplingParams&);
  void (*apply)(LogitContext&);
};

// Steps over the tokens left. Never empty.
struct Candidates {
  std::vector<Candidate> items;
  bool is_sorted = false;      // best first
  std::vector<float> weights;  // scratch
};

struct CandidateStep {
  std::string_view name;
  bool drops;  // may drop tokens
  bool (*is_active)(const SamplingParams&);
  void (*apply)(const SamplingParams&, Candidates&);
};

std::span<const LogitStep> logit_steps();
std::span<const CandidateStep> candidate_steps();

void apply_bias(LogitContext& c);
void apply_penalties(LogitContext& c);
void ban_end_tokens(LogitContext& c);
void keep_top_k(const SamplingParams& params, Candidates& c);
void keep_typical(const SamplingParams& params, Candidates& c);
void keep_top_p(const SamplingParams& params, Candidates& c);
void keep_min_p(const SamplingParams& params, Candidates& c);
void apply_temperature(const SamplingParams& params, Candidates& c);

// Best first, the best `count` at least; the rest may stay in any order.
void sort_best(Candidates& c, size_t count);
float best_logit(const Candidates& c);
// weights[i] = exp(logit[i] - best logit); returns their sum.
double weigh(Candidates& c);

}  // namespace nereid::sample
