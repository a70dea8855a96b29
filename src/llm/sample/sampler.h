// SPDX-License-Identifier: Apache-2.0
// Draws the tokens of one sequence.
//
// One sampler a sequence, used by one thread at a time. It holds no random state: the n-th token is drawn with the n-th
// number of its seed (philox.h), and what penalties, DRY and bans need they find in the history. Only Mirostat carries
// a number from token to token; state() and restore() hold all there is. Besides the results with log-probabilities
// nothing is allocated once the scratch has grown. Copies go on independently.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "llm/sample/accept.h"
#include "llm/sample/logits.h"
#include "llm/sample/params.h"
#include "llm/sample/remote_draw.h"
#include "llm/sample/steps.h"
#include "llm/sample/vocabulary.h"

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

// A token that a draft model drew, and the distribution it drew from.
struct Guess {
  int32_t token;
  std::span<const TokenProbability> drawn_from;  // by token, ascending; what is not named has probability 0
};

// All of a sampler that changes.
struct SamplerState {
  uint64_t step = 0;      // tokens drawn so far
  float mirostat_mu = 0;  // the bound on surprise, in bits
};

// The log-probability of result's token, and the `count` likeliest tokens with theirs, best first. `scratch` and `best`
// keep their memory for the next call.
void add_logprobs(std::span<const float> logits, int32_t count, std::vector<float>* scratch,
                  std::vector<Candidate>* best, SampleResult* result);

class Sampler {
 public:
  // `end_tokens` end the text: what min_tokens and ignore_eos hold back, with params.stop_token_ids. Errors:
  // params.validate()'s, and kInvalidArgument where the parameters need a vocabulary.
  static Result<Sampler> make(SamplingParams params, std::vector<int32_t> end_tokens = {});
  // The vocabulary must outlive the sampler; its end tokens end the text. Errors: params.validate()'s, and
  // kInvalidArgument for tokens outside the vocabulary.
  static Result<Sampler> make(SamplingParams params, const Vocabulary& vocabulary);

  // `logits` of the whole vocabulary are scratch: changed where a step asks for it. `history` is prompt and answer so
  // far, of which the last step() tokens are the answer. `mask` is what GrammarMatcher::fill_mask left; none: all
  // tokens may come. Log-probabilities are of the logits as given, before any step. Greedy without bias, penalties or
  // log-probabilities is one pass over the logits. NaN counts as -inf; a +inf is drawn, the lowest token first. Errors:
  // kInternal when no logit is above -inf, or a grammar's mask was not given; kInvalidArgument when bans and grammar
  // leave no token.
  Result<SampleResult> sample(std::span<float> logits, std::span<const int32_t> history,
                              std::span<const uint32_t> mask = {});

  // The draw that sample() would make, for whoever has the logits and a grammar's mask; `draw` keeps its memory. False:
  // only sample() can make it. take() then moves on with what was drawn.
  bool describe(std::span<const int32_t> history, const RemoteLimits& limits, RemoteDraw* draw) const;
  SampleResult take(SampleResult drawn);

  // As sample(), but the token is the guess as often as the two distributions allow it (speculative sampling): what is
  // drawn has the distribution of sample()'s tokens, whatever the guess was drawn from. A guess without a distribution
  // (prompt lookup, a greedy draft) needs none of this: call sample() and see whether it draws the guess.
  Result<SampleResult> sample_guess(std::span<float> logits, std::span<const int32_t> history,
                                    std::span<const uint32_t> mask, const Guess& guess);

  // The `count` likeliest continuations of a beam, best first, with their log-probabilities after bias, penalties, bans
  // and grammar (temperature and filters do not apply). Does not move step(): see set_step. Errors: as sample().
  Status continuations(std::span<float> logits, std::span<const int32_t> history, std::span<const uint32_t> mask,
                       size_t count, std::vector<TokenLogprob>* out);

  // What sample() would draw from: the tokens left by the chain with their probabilities, by token. Draws
  // nothing, moves nothing. Greedy: the one token. (For draft models, whose guesses need it.)
  Status distribution(std::span<float> logits, std::span<const int32_t> history, std::span<const uint32_t> mask,
                      std::vector<TokenProbability>* out);

  // Tokens drawn so far.
  uint64_t step() const { return state_.step; }
  void set_step(uint64_t step) { state_.step = step; }
  const SamplerState& state() const { return state_; }
  void restore(const SamplerState& state) { state_ = state; }
  const SamplingParams& params() const { return params_; }

 private:
  Sampler(SamplingParams params, std::vector<int32_t> end_tokens, const Vocabulary* vocabulary);
  // The chain up to the draw: logits changed, and for all but greedy choice the tokens left, in candidates_. The best
  // token of the changed logits.
  Result<int32_t> run_chain(std::span<float> logits, std::span<const int32_t> history, std::span<const uint32_t> mask,
                            bool filter);
  Status change_logits(std::span<float> logits, std::span<const int32_t> history, std::span<const uint32_t> mask,
                       bool filter);
  void apply_steps(LogitContext& context, std::span<const uint32_t> mask, bool filter, bool soft);
  void filter_candidates(std::span<const float> logits);
  int32_t draw_any(std::span<const float> logits, float best, double u);
  size_t draw_guess(const Guess& guess);
  SampleResult finish(int32_t token, std::span<const float> raw);
  bool is_certain(std::span<const float> logits, int32_t best) const;
  bool wants_logprobs() const { return params_.logprobs >= 0 || params_.best_of > 1; }

  SamplingParams params_;
  std::vector<int32_t> end_tokens_;
  const Vocabulary* vocabulary_;
  BadWords bad_words_;
  std::vector<uint32_t> allowed_;
  bool changes_logits_;  // some step does
  bool is_soft_;         // some step bans softly
  bool filters_;         // some step drops tokens, or weighs them otherwise than temperature does
  SamplerState state_;
  Candidates candidates_;
  StepScratch scratch_;
  std::vector<float> raw_;
  std::vector<float> maxima_;
};

}  // namespace nereid::sample
