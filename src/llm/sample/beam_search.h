// SPDX-License-Identifier: Apache-2.0
// Beam search as a policy: which beams go on, from which parents, and when the search is over. No model, no pages.
//
// Each step: the caller gives every live beam's likeliest continuations (Sampler::continuations, continuations_wanted()
// of them), advance() answers which beams live on. Beam i of the answer continues beam parent[i] by token[i]: the
// caller forks pages, matchers and samplers accordingly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "llm/sample/params.h"
#include "llm/sample/sampler.h"

namespace nereid::sample {

struct BeamStep {
  int32_t parent;  // index into the live beams before the step
  int32_t token;
};

struct Hypothesis {
  std::vector<int32_t> tokens;  // of the answer, without the end token
  double logprob = 0;           // of its tokens, with the end token where it ended by one
  double score = 0;             // logprob / length^length_penalty
  bool ended = false;           // by an end token; false: cut off by max_tokens
};

class BeamSearch {
 public:
  // Of the parameters: beam_width, length_penalty, early_stopping, beam_diversity, max_tokens, stop_token_ids.
  BeamSearch(const SamplingParams& params, std::vector<int32_t> end_tokens);

  // How many continuations of each beam advance() wants: enough that end tokens leave a full set of beams.
  size_t continuations_wanted() const;
  // Live beams: 1 before the first step, then at most beam_width.
  size_t beams() const { return live_.size(); }
  // `continuations[i]` are those of live beam i, best first. The new live beams, best first; empty when the search is
  // over.
  std::span<const BeamStep> advance(std::span<const std::vector<TokenLogprob>> continuations);
  bool is_done() const { return live_.empty(); }
  std::span<const int32_t> tokens(size_t beam) const { return live_[beam].tokens; }
  // The best answers, best first, at most beam_width: whole ones, then (where max_tokens cut the search) live ones.
  std::vector<Hypothesis> results() const;

 private:
  void finish(Hypothesis hypothesis);
  double score(double logprob, size_t length) const;
  bool can_improve() const;

  size_t width_;
  double length_penalty_;
  int32_t early_stopping_;
  double diversity_;
  size_t max_tokens_;
  std::vector<int32_t> end_tokens_;
  std::vector<Hypothesis> live_;
  std::vector<Hypothesis> done_;  // best first, at most width_
  std::vector<BeamStep> steps_;
};

}  // namespace nereid::sample
