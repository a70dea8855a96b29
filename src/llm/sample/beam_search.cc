// SPDX-License-Identifier: Apache-2.0
// Scores, ranks and retires beams.
#include "llm/sample/beam_search.h"

#include <algorithm>

#include "llm/sample/portable_math.h"

namespace nereid::sample {
namespace {

struct Extension {
  int32_t parent;
  int32_t token;
  double logprob;
  double ranked;  // logprob less the price of being a later sibling
};

}  // namespace

BeamSearch::BeamSearch(const SamplingParams& params, std::vector<int32_t> end_tokens)
    : width_(static_cast<size_t>(std::max(1, params.beam_width))),
      length_penalty_(params.length_penalty),
      early_stopping_(params.early_stopping),
      diversity_(params.beam_diversity),
      max_tokens_(static_cast<size_t>(params.max_tokens)),
      end_tokens_(std::move(end_tokens)),
      live_(1) {
  end_tokens_.insert(end_tokens_.end(), params.stop_token_ids.begin(), params.stop_token_ids.end());
  std::sort(end_tokens_.begin(), end_tokens_.end());
}

size_t BeamSearch::continuations_wanted() const {
  return width_ + std::max<size_t>(end_tokens_.size(), 1);
}

double BeamSearch::score(double logprob, size_t length) const {
  return logprob / stable_pow(static_cast<double>(std::max<size_t>(length, 1)), length_penalty_);
}

void BeamSearch::finish(Hypothesis hypothesis) {
  // Of equal scores the earlier one stays before the later.
  const auto place = std::upper_bound(done_.begin(), done_.end(), hypothesis,
                                      [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  done_.insert(place, std::move(hypothesis));
  if (done_.size() > width_) done_.pop_back();
}

// Whether a live beam may still end with a better score than the worst of a full set. A log-probability only falls, so
// the score is bounded by what it is now, divided by a length: that of now (0; what most searches take, as an answer
// that is already behind rarely catches up), or the one that is kindest to it (2).
bool BeamSearch::can_improve() const {
  if (done_.size() < width_) return true;
  if (early_stopping_ == 1) return false;
  for (const Hypothesis& beam : live_) {
    const size_t length = early_stopping_ == 2 && length_penalty_ > 0 ? max_tokens_ : beam.tokens.size();
    if (score(beam.logprob, length) > done_.back().score) return true;
  }
  return false;
}

std::span<const BeamStep> BeamSearch::advance(std::span<const std::vector<TokenLogprob>> continuations) {
  std::vector<Extension> extensions;
  for (size_t b = 0; b < live_.size(); ++b) {
    for (size_t k = 0; k < continuations[b].size(); ++k) {
      const TokenLogprob& next = continuations[b][k];
      const double logprob = live_[b].logprob + next.logprob;
      extensions.push_back(
          {static_cast<int32_t>(b), next.token, logprob, logprob - diversity_ * static_cast<double>(k)});
    }
  }
  std::sort(extensions.begin(), extensions.end(), [](const Extension& a, const Extension& b) {
    if (a.ranked != b.ranked) return a.ranked > b.ranked;
    return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
  });
  steps_.clear();
  std::vector<Hypothesis> next;
  size_t rank = 0;
  for (const Extension& e : extensions) {
    if (next.size() == width_) break;
    const Hypothesis& parent = live_[static_cast<size_t>(e.parent)];
    if (std::binary_search(end_tokens_.begin(), end_tokens_.end(), e.token)) {
      // An end below the best `width` would push out a better beam that is not over yet.
      if (rank++ < width_) finish({parent.tokens, e.logprob, score(e.logprob, parent.tokens.size() + 1), true});
      continue;
    }
    ++rank;
    next.push_back(parent);
    next.back().tokens.push_back(e.token);
    next.back().logprob = e.logprob;
    next.back().score = score(e.logprob, next.back().tokens.size());
    steps_.push_back({e.parent, e.token});
  }
  live_ = std::move(next);
  const bool is_full = !live_.empty() && live_[0].tokens.size() >= max_tokens_;
  if (is_full) {
    for (Hypothesis& beam : live_) finish(std::move(beam));
  }
  if (is_full || !can_improve()) {
    live_.clear();
    steps_.clear();
  }
  return steps_;
}

std::vector<Hypothesis> BeamSearch::results() const {
  std::vector<Hypothesis> all = done_;
  all.insert(all.end(), live_.begin(), live_.end());
  std::stable_sort(all.begin(), all.end(), [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (all.size() > width_) all.resize(width_);
  return all;
}

}  // namespace nereid::sample
