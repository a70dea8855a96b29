// SPDX-License-Identifier: Apache-2.0
// The chain's order, and what its steps share.
#include "llm/sample/steps.h"

#include <algorithm>

namespace nereid::sample {
namespace {

using P = const SamplingParams&;
using enum LogitStepKind;

constexpr LogitStep kLogitSteps[] = {
    {"logit_bias", kChange, [](P p) { return !p.logit_bias.empty(); }, apply_bias},
    {"allowed_token_ids", kChange, [](P p) { return !p.allowed_token_ids.empty(); }, allow_only},
    {"bad_token_ids", kChange, [](P p) { return !p.bad_token_ids.empty(); }, ban_bad_tokens},
    {"bad_words", kChange, [](P p) { return !p.bad_words.empty(); }, ban_bad_words},
    {"end_tokens", kSoft, [](P p) { return p.ignore_eos != 0 || p.min_tokens > 0; }, ban_end_tokens},
    {"no_repeat_ngram_size", kSoft, [](P p) { return p.no_repeat_ngram_size > 0; }, ban_repeated_ngrams},
    {"penalties", kChange, [](P p) { return p.has_penalties(); }, apply_penalties},
    {"dry", kChange, [](P p) { return p.has_dry(); }, apply_dry},
    {"top_n_sigma", kFilter, [](P p) { return p.top_n_sigma > 0.0F && p.mirostat == 0; }, keep_top_n_sigma},
};

constexpr CandidateStep kCandidateSteps[] = {
    {"top_k", true, [](P p) { return p.top_k > 0; }, keep_top_k},
    {"typical_p", true, [](P p) { return p.typical_p < 1.0F; }, keep_typical},
    {"top_p", true, [](P p) { return p.top_p < 1.0F; }, keep_top_p},
    {"min_p", true, [](P p) { return p.min_p > 0.0F; }, keep_min_p},
    {"xtc", true, [](P p) { return p.xtc_probability > 0.0F && p.xtc_threshold <= 0.5F; }, leave_out_top_choices},
    {"temperature", false, [](P p) { return p.temperature != 1.0F || p.dynatemp_range > 0.0F; }, apply_temperature},
};

}  // namespace

std::span<const LogitStep> logit_steps() {
  return kLogitSteps;
}
std::span<const CandidateStep> candidate_steps() {
  return kCandidateSteps;
}

void sort_best(Candidates& c, size_t count) {
  if (c.is_sorted) return;
  const auto middle = c.items.begin() + static_cast<std::ptrdiff_t>(std::min(count, c.items.size()));
  if (middle != c.items.end()) std::nth_element(c.items.begin(), middle, c.items.end(), is_better);
  std::sort(c.items.begin(), middle, is_better);
  c.is_sorted = middle == c.items.end();
}

float best_logit(const Candidates& c) {
  if (c.is_sorted) return c.items[0].logit;
  float best = c.items[0].logit;
  for (const Candidate& x : c.items) best = x.logit > best ? x.logit : best;
  return best;
}

double weigh(Candidates& c) {
  const float best = best_logit(c);
  c.weights.resize(c.items.size());
  for (size_t i = 0; i < c.items.size(); ++i) c.weights[i] = c.items[i].logit;
  exp_all(c.weights, best, 1.0F);
  return sum_of(c.weights);
}

}  // namespace nereid::sample
