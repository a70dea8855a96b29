// SPDX-License-Identifier: Apache-2.0
// Runs the chain and draws.
#include "llm/sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "llm/sample/philox.h"

namespace nereid::sample {

namespace {

// The first place at which the running sum of the weights passes the target; whole blocks are passed at once.
size_t place_of(std::span<const float> weights, double target) {
  constexpr size_t kBlock = 256;
  size_t last = 0;  // the last place with a weight, should rounding carry the target past the end
  for (size_t at = 0; at < weights.size(); at += kBlock) {
    const auto block = weights.subspan(at, std::min(kBlock, weights.size() - at));
    const double sum = sum_of(block);
    const bool is_last = at + kBlock >= weights.size();
    if (sum <= target && !is_last) {
      target -= sum;
      if (sum > 0) last = at + block.size() - 1;
      continue;
    }
    for (size_t i = 0; i < block.size(); ++i) {
      if (!(block[i] > 0)) continue;
      last = at + i;
      target -= block[i];
      if (target < 0) return last;
    }
  }
  while (last > 0 && !(weights[last] > 0)) --last;
  return last;
}

}  // namespace

Result<Sampler> Sampler::make(SamplingParams params, std::vector<int32_t> end_tokens) {
  NEREID_RETURN_IF_ERROR(params.validate());
  return Sampler(std::move(params), std::move(end_tokens));
}

Sampler::Sampler(SamplingParams params, std::vector<int32_t> end_tokens)
    : params_(std::move(params)), end_tokens_(std::move(end_tokens)) {
  const auto steps = logit_steps();
  changes_logits_ = std::any_of(steps.begin(), steps.end(), [&](const LogitStep& s) { return s.is_active(params_); });
  const auto filters = candidate_steps();
  filters_ = std::any_of(filters.begin(), filters.end(),
                         [&](const CandidateStep& s) { return s.drops && s.is_active(params_); });
}

void Sampler::change_logits(std::span<float> logits, std::span<const int32_t> history) {
  LogitContext context{params_, logits, history, end_tokens_, step_, &seen_};
  for (const LogitStep& step : logit_steps()) {
    if (step.is_active(params_)) step.apply(context);
  }
}

// With top-k only the best are ever gathered; the step of that name then finds its work done.
void Sampler::gather(std::span<const float> logits) {
  Candidates& c = candidates_;
  if (params_.top_k > 0 && static_cast<size_t>(params_.top_k) < logits.size()) {
    select_top(logits, static_cast<size_t>(params_.top_k), &maxima_, &c.items);
    c.is_sorted = true;
    return;
  }
  c.is_sorted = false;
  c.items.resize(logits.size());
  size_t n = 0;
  for (size_t i = 0; i < logits.size(); ++i) {  // without a branch: an item that does not count is written over
    c.items[n] = {static_cast<int32_t>(i), logits[i]};
    n += logits[i] > -std::numeric_limits<float>::infinity() ? 1 : 0;
  }
  c.items.resize(n);
}

int32_t Sampler::draw_candidate(double u) {
  const double sum = weigh(candidates_);
  return candidates_.items[place_of(candidates_.weights, u * sum)].token;
}

// Nothing but temperature: no candidates are needed, only weights.
int32_t Sampler::draw_any(std::span<const float> logits, float best, double u) {
  std::vector<float>& weights = candidates_.weights;
  weights.assign(logits.begin(), logits.end());
  exp_all(weights, best, 1.0F / params_.temperature);
  return static_cast<int32_t>(place_of(weights, u * sum_of(weights)));
}

void Sampler::add_logprobs(std::span<const float> raw, SampleResult* result) {
  const double total = log_sum_exp(raw);
  auto logprob = [&](float logit) {
    if (std::isinf(total)) return logit == total ? 0.0F : -std::numeric_limits<float>::infinity();
    return static_cast<float>(logit - total);
  };
  result->logprob = logprob(raw[static_cast<size_t>(result->token)]);
  select_top(raw, static_cast<size_t>(params_.logprobs), &maxima_, &candidates_.items);
  for (const Candidate& c : candidates_.items) result->top.push_back({c.token, logprob(c.logit)});
}

Result<SampleResult> Sampler::sample(std::span<float> logits, std::span<const int32_t> history) {
  const bool wants_logprobs = params_.logprobs >= 0;
  std::span<const float> raw = logits;
  if (changes_logits_) {
    if (wants_logprobs) {
      raw_.assign(logits.begin(), logits.end());
      raw = raw_;
    }
    change_logits(logits, history);
  }
  SampleResult result{argmax(logits), 0, {}};
  if (result.token < 0) return internal("no token can be drawn: none of the {} logits is above -inf.", logits.size());
  const bool is_certain = std::isinf(logits[static_cast<size_t>(result.token)]);
  if (!params_.is_greedy() && !is_certain) {
    const double u = uniform(params_.seed, step_);
    if (filters_) {
      gather(logits);
      for (const CandidateStep& step : candidate_steps()) {
        if (step.is_active(params_)) step.apply(params_, candidates_);
      }
      result.token = draw_candidate(u);
    } else {
      result.token = draw_any(logits, logits[static_cast<size_t>(result.token)], u);
    }
  }
  if (wants_logprobs) add_logprobs(raw, &result);
  ++step_;
  return result;
}

}  // namespace nereid::sample
