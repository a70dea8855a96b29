// SPDX-License-Identifier: Apache-2.0
// The chain from logits to the tokens that may be drawn: two small ordered tables, one file an idea.
//
// The order is llama.cpp's default: logit bias, penalties, dry, top-n-sigma, top-k, typical, top-p, min-p, xtc,
// temperature; what bans tokens for good comes between the penalties, where no order matters to it. Each filter
// measures probabilities among the tokens that the steps before it left, and none ever drops the last token.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "llm/sample/bad_words.h"
#include "llm/sample/logits.h"
#include "llm/sample/params.h"
#include "llm/sample/vocabulary.h"

namespace nereid::sample {

// What steps that look back keep between calls: memory, no meaning.
struct StepScratch {
  std::vector<int32_t> tokens;
  std::vector<int32_t> lengths;
  std::string text;
};

// Steps that change single logits of the whole vocabulary.
struct LogitContext {
  const SamplingParams& params;
  std::span<float> logits;
  std::span<const int32_t> history;     // prompt and answer so far, oldest first
  std::span<const int32_t> end_tokens;  // that end the text
  uint64_t step;                        // tokens drawn before: the length of the answer
  StepScratch* scratch;
  const Vocabulary* vocabulary = nullptr;  // where params.needs_vocabulary()
  const BadWords* bad_words = nullptr;     // where params.bad_words are
  std::span<const uint32_t> allowed = {};  // a bit a token (params.allowed_token_ids); none: all
};

enum class LogitStepKind : uint8_t {
  kChange,  // always
  kSoft,    // a ban that yields where it and the other bans would leave nothing
  kFilter,  // not for greedy choice and beam search
};

struct LogitStep {
  std::string_view name;
  LogitStepKind kind;
  bool (*is_active)(const SamplingParams&);
  void (*apply)(LogitContext&);
};

// Steps over the tokens left. Never empty.
struct Candidates {
  std::vector<Candidate> items;
  bool is_sorted = false;         // best first
  double left_out = 0;            // what the tokens that were never gathered weigh (as weigh() does), for top-p
  std::vector<float> weights;     // scratch
  std::vector<float> keys;        // scratch
  std::vector<int32_t> bins;      // scratch
  std::vector<Candidate> border;  // scratch
};

struct ChainContext {
  const SamplingParams& params;
  uint64_t step = 0;  // tokens drawn before: what steps that draw lots draw with
};

struct CandidateStep {
  std::string_view name;
  bool drops;  // may drop tokens
  bool (*is_active)(const SamplingParams&);
  void (*apply)(const ChainContext&, Candidates&);
};

std::span<const LogitStep> logit_steps();
std::span<const CandidateStep> candidate_steps();

void apply_bias(LogitContext& c);
void allow_only(LogitContext& c);
void apply_penalties(LogitContext& c);
void apply_dry(LogitContext& c);
void ban_repeated_ngrams(LogitContext& c);
void ban_bad_tokens(LogitContext& c);
void ban_bad_words(LogitContext& c);
void ban_end_tokens(LogitContext& c);
void keep_top_n_sigma(LogitContext& c);

void keep_top_k(const ChainContext& chain, Candidates& c);
void keep_typical(const ChainContext& chain, Candidates& c);
void keep_top_p(const ChainContext& chain, Candidates& c);
void keep_min_p(const ChainContext& chain, Candidates& c);
void leave_out_top_choices(const ChainContext& chain, Candidates& c);
void apply_temperature(const ChainContext& chain, Candidates& c);

// Tokens whose bit is not set become -inf; so do those beyond the mask.
void apply_mask(std::span<const uint32_t> mask, std::span<float> logits);
inline void ban(std::span<float> logits, int32_t token) {
  if (token >= 0 && static_cast<size_t>(token) < logits.size())
    logits[static_cast<size_t>(token)] = -std::numeric_limits<float>::infinity();
}

// Gathers the candidates for these parameters: all of them, or no more than the steps to come can keep.
void gather_candidates(const SamplingParams& params, std::span<const float> logits, std::vector<float>* maxima,
                       Candidates* c);

// Best first, the best `count` at least; the rest may stay in any order.
void sort_best(Candidates& c, size_t count);
float best_logit(const Candidates& c);
// weights[i] = exp(logit[i] - best logit); returns their sum.
double weigh(Candidates& c);

}  // namespace nereid::sample
