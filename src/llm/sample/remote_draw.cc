// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/remote_draw.h"

#include <algorithm>

#include "llm/sample/logits.h"
#include "llm/sample/philox.h"
#include "llm/sample/portable_math.h"
#include "llm/sample/sampler.h"

namespace nereid::sample {
namespace {

// Steps that look at the whole row, or at more of the history than single tokens.
bool is_local(const SamplingParams& p, const RemoteLimits& limits) {
  return p.mirostat == 0 && p.typical_p >= 1.0F && p.top_n_sigma <= 0.0F && p.xtc_probability <= 0.0F &&
         p.dynatemp_range <= 0.0F && !p.has_dry() && p.no_repeat_ngram_size == 0 && p.bad_words.empty() &&
         p.bad_token_ids.empty() && !p.is_beam_search() && p.top_k <= limits.top_k && p.logprobs <= limits.logprobs;
}

}  // namespace

bool Sampler::describe(std::span<const int32_t> history, const RemoteLimits& limits, RemoteDraw* draw) const {
  if (!is_local(params_, limits)) return false;
  draw->is_greedy = params_.is_greedy();
  draw->has_filters = filters_;
  draw->top_k = params_.top_k;
  draw->top_p = params_.top_p;
  draw->log_min_p = params_.min_p > 0 ? static_cast<float>(stable_log(params_.min_p)) : kNegativeInfinity;
  draw->temperature = params_.temperature;
  draw->logprobs = wants_logprobs() ? std::max(params_.logprobs, 0) : -1;
  draw->uniform = uniform(params_.seed, state_.step, kTokenStream);
  draw->allowed = allowed_;
  std::vector<LogitEdit>& edits = draw->edits;
  edits.clear();
  for (const auto& [token, bias] : params_.logit_bias) edits.push_back({.token = token, .add = bias});
  if (params_.ignore_eos != 0 || state_.step < static_cast<uint64_t>(params_.min_tokens))
    for (int32_t token : end_tokens_) edits.push_back({.token = token, .add = kNegativeInfinity});
  if (params_.has_penalties()) {
    const size_t seen = params_.penalty_last_n < 0
                            ? history.size()
                            : std::min(history.size(), static_cast<size_t>(params_.penalty_last_n));
    for (int32_t token : history.last(seen)) edits.push_back({.token = token, .factor = 0});
  }
  if (edits.empty()) return true;
  // What concerns one token becomes one edit; of the history (factor 0 until now) it is the count that matters.
  std::ranges::stable_sort(edits, {}, &LogitEdit::token);
  size_t kept = 0;
  for (size_t i = 0; i < edits.size();) {
    LogitEdit one{.token = edits[i].token};
    int32_t count = 0;
    for (; i < edits.size() && edits[i].token == one.token; ++i) {
      one.add += edits[i].add;
      if (edits[i].factor == 0) ++count;
    }
    if (count > 0) {
      one.factor = params_.repetition_penalty;
      one.less = static_cast<float>(count) * params_.frequency_penalty + params_.presence_penalty;
    }
    if (one.token >= 0) edits[kept++] = one;
  }
  edits.resize(kept);
  return true;
}

SampleResult Sampler::take(SampleResult drawn) {
  ++state_.step;
  return drawn;
}

}  // namespace nereid::sample
