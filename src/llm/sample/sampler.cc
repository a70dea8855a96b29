// SPDX-License-Identifier: Apache-2.0
// Runs the chain and draws.
#include "llm/sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "llm/sample/accept.h"
#include "llm/sample/grammar.h"
#include "llm/sample/mirostat.h"
#include "llm/sample/philox.h"

namespace nereid::sample {

namespace {

// The first place at which the running sum of the weights passes the target; whole blocks are passed at once.
size_t place_of(std::span<const float> weights, double target) {
  constexpr size_t kSumBlock = 256;
  size_t last = 0;  // the last place with a weight, should rounding carry the target past the end
  for (size_t at = 0; at < weights.size(); at += kSumBlock) {
    const auto block = weights.subspan(at, std::min(kSumBlock, weights.size() - at));
    const double sum = sum_of(block);
    const bool is_last = at + kSumBlock >= weights.size();
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

Status check_tokens(const SamplingParams& params, size_t vocabulary) {
  auto check = [&](std::string_view name, int32_t token) {
    if (token >= 0 && static_cast<size_t>(token) < vocabulary) return Status::ok();
    return invalid_argument("{} names the token {}, but the vocabulary has {} tokens.", name, token, vocabulary);
  };
  for (const auto& [token, bias] : params.logit_bias) NEREID_RETURN_IF_ERROR(check("logit_bias", token));
  for (int32_t token : params.stop_token_ids) NEREID_RETURN_IF_ERROR(check("stop_token_ids", token));
  for (int32_t token : params.allowed_token_ids) NEREID_RETURN_IF_ERROR(check("allowed_token_ids", token));
  for (const auto& sequence : params.bad_token_ids) {
    for (int32_t token : sequence) NEREID_RETURN_IF_ERROR(check("bad_token_ids", token));
  }
  return Status::ok();
}

// What a call writes beside its result is as large as the vocabulary: it is the thread's and lent for the call, since
// an answer would keep it for as long as it lasts (0.2 to 1.5 MB each).
class LentScratch {
 public:
  LentScratch(Candidates& candidates, std::vector<float>& raw, std::vector<float>& maxima)
      : candidates_(candidates), raw_(raw), maxima_(maxima) {
    exchange();
  }
  LentScratch(const LentScratch&) = delete;
  LentScratch& operator=(const LentScratch&) = delete;
  ~LentScratch() { exchange(); }

 private:
  struct Scratch {
    Candidates candidates;
    std::vector<float> raw, maxima;
  };
  void exchange() {
    thread_local Scratch scratch;
    std::swap(candidates_, scratch.candidates);
    raw_.swap(scratch.raw);
    maxima_.swap(scratch.maxima);
  }

  Candidates& candidates_;
  std::vector<float>& raw_;
  std::vector<float>& maxima_;
};

}  // namespace

Result<Sampler> Sampler::make(SamplingParams params, std::vector<int32_t> end_tokens) {
  NEREID_RETURN_IF_ERROR(params.validate());
  if (params.needs_vocabulary())
    return invalid_argument("bad_words and dry's sequence breakers are texts, but the tokens' texts were not given.");
  return Sampler(std::move(params), std::move(end_tokens), nullptr);
}

Result<Sampler> Sampler::make(SamplingParams params, const Vocabulary& vocabulary) {
  NEREID_RETURN_IF_ERROR(params.validate());
  NEREID_RETURN_IF_ERROR(check_tokens(params, vocabulary.size()));
  return Sampler(std::move(params), vocabulary.end_tokens(), &vocabulary);
}

Sampler::Sampler(SamplingParams params, std::vector<int32_t> end_tokens, const Vocabulary* vocabulary)
    : params_(std::move(params)), end_tokens_(std::move(end_tokens)), vocabulary_(vocabulary) {
  end_tokens_.insert(end_tokens_.end(), params_.stop_token_ids.begin(), params_.stop_token_ids.end());
  if (vocabulary_ != nullptr) bad_words_ = BadWords(params_.bad_words, *vocabulary_);
  auto allow = [&](int32_t token) {
    if (token < 0) return;
    allowed_.resize(std::max(allowed_.size(), mask_words(static_cast<size_t>(token) + 1)));
    allowed_[static_cast<size_t>(token) / 32] |= 1U << (token % 32);
  };
  if (!params_.allowed_token_ids.empty()) {
    for (int32_t token : params_.allowed_token_ids) allow(token);
    for (int32_t token : end_tokens_) allow(token);
  }
  changes_logits_ = false;
  is_soft_ = false;
  for (const LogitStep& step : logit_steps()) {
    changes_logits_ |= step.is_active(params_);
    is_soft_ |= step.kind == LogitStepKind::kSoft && step.is_active(params_);
  }
  filters_ = params_.mirostat != 0 || params_.dynatemp_range > 0;
  for (const CandidateStep& step : candidate_steps()) filters_ |= step.drops && step.is_active(params_);
  state_.mirostat_mu = mirostat_start(params_);
}

void Sampler::apply_steps(LogitContext& context, std::span<const uint32_t> mask, bool filter, bool soft) {
  if (!mask.empty()) apply_mask(mask, context.logits);
  for (const LogitStep& step : logit_steps()) {
    if (step.kind == LogitStepKind::kFilter && !filter) continue;
    if (step.kind == LogitStepKind::kSoft && !soft) continue;
    if (step.is_active(params_)) step.apply(context);
  }
}

// Leaves the logits as they were in raw_, where a later step wants them.
Status Sampler::change_logits(std::span<float> logits, std::span<const int32_t> history, std::span<const uint32_t> mask,
                              bool filter) {
  if (mask.empty() && !params_.grammar.is_none())
    return internal("the answer has a grammar ({}), but no mask of it was given.",
                    grammar_kind_name(params_.grammar.kind));
  if (!changes_logits_ && mask.empty()) return Status::ok();
  if (wants_logprobs() || is_soft_) raw_.assign(logits.begin(), logits.end());
  LogitContext context{.params = params_,
                       .logits = logits,
                       .history = history,
                       .end_tokens = end_tokens_,
                       .step = state_.step,
                       .scratch = &scratch_,
                       .vocabulary = vocabulary_,
                       .bad_words = &bad_words_,
                       .allowed = allowed_};
  apply_steps(context, mask, filter, true);
  if (is_soft_ && argmax(logits) < 0) {
    std::copy(raw_.begin(), raw_.end(), logits.begin());
    apply_steps(context, mask, filter, false);
  }
  return Status::ok();
}

void Sampler::filter_candidates(std::span<const float> logits) {
  const ChainContext chain{params_, state_.step};
  if (params_.mirostat != 0) {
    gather_mirostat(chain, state_.mirostat_mu, logits, &maxima_, &candidates_);
    return;
  }
  gather_candidates(params_, logits, &maxima_, &candidates_);
  for (const CandidateStep& step : candidate_steps()) {
    if (step.is_active(params_)) step.apply(chain, candidates_);
  }
}

Result<int32_t> Sampler::run_chain(std::span<float> logits, std::span<const int32_t> history,
                                   std::span<const uint32_t> mask, bool filter) {
  NEREID_RETURN_IF_ERROR(change_logits(logits, history, mask, filter));
  const int32_t best = argmax(logits);
  if (best >= 0) return best;
  if (changes_logits_ || !mask.empty())
    return invalid_argument("bans, biases and grammar together leave none of the {} tokens to go on with.",
                            logits.size());
  return internal("no token can be drawn: none of the {} logits is above -inf.", logits.size());
}

bool Sampler::is_certain(std::span<const float> logits, int32_t best) const {
  return params_.is_greedy() || std::isinf(logits[static_cast<size_t>(best)]);
}

// Nothing but temperature: no candidates are needed, only weights.
int32_t Sampler::draw_any(std::span<const float> logits, float best, double u) {
  std::vector<float>& weights = candidates_.weights;
  weights.assign(logits.begin(), logits.end());
  exp_all(weights, best, 1.0F / params_.temperature);
  return static_cast<int32_t>(place_of(weights, u * sum_of(weights)));
}

void add_logprobs(std::span<const float> logits, int32_t count, std::vector<float>* scratch,
                  std::vector<Candidate>* best, SampleResult* result) {
  const double total = log_sum_exp(logits);
  const auto logprob = [&](float logit) {
    if (std::isinf(total)) return logit == total ? 0.0F : -std::numeric_limits<float>::infinity();
    return static_cast<float>(logit - total);
  };
  result->logprob = logprob(logits[static_cast<size_t>(result->token)]);
  if (count <= 0) return;
  select_top(logits, static_cast<size_t>(count), scratch, best);
  for (const Candidate& c : *best) result->top.push_back({c.token, logprob(c.logit)});
}

SampleResult Sampler::finish(int32_t token, std::span<const float> raw) {
  SampleResult result{token, 0, {}};
  ++state_.step;
  if (!wants_logprobs()) return result;
  add_logprobs(raw, params_.logprobs, &maxima_, &candidates_.items, &result);
  return result;
}

Result<SampleResult> Sampler::sample(std::span<float> logits, std::span<const int32_t> history,
                                     std::span<const uint32_t> mask) {
  return sample_guess(logits, history, mask, {-1, {}});
}

Result<SampleResult> Sampler::sample_guess(std::span<float> logits, std::span<const int32_t> history,
                                           std::span<const uint32_t> mask, const Guess& guess) {
  const LentScratch lent(candidates_, raw_, maxima_);
  NEREID_TRY(int32_t token, run_chain(logits, history, mask, !params_.is_greedy()));
  const std::span<const float> raw = changes_logits_ || !mask.empty() ? std::span<const float>(raw_) : logits;
  if (!is_certain(logits, token)) {
    const double u = uniform(params_.seed, state_.step, kTokenStream);
    if (!filters_ && guess.token < 0) {
      token = draw_any(logits, logits[static_cast<size_t>(token)], u);
    } else {
      filter_candidates(logits);
      const double sum = weigh(candidates_);
      const size_t place = guess.token < 0 ? place_of(candidates_.weights, u * sum) : draw_guess(guess);
      token = candidates_.items[place].token;
      if (params_.mirostat != 0)
        state_.mirostat_mu = mirostat_moved(params_, state_.mirostat_mu,
                                            exp_of(candidates_.items[place].logit - best_logit(candidates_)) / sum);
    }
  }
  return finish(token, raw);
}

// The weights are there. Accepted or drawn from what the guesses leave over, the token has the chain's distribution.
size_t Sampler::draw_guess(const Guess& guess) {
  Candidates& c = candidates_;
  const double sum = sum_of(c.weights);
  const float scale = static_cast<float>(1 / sum);
  for (float& w : c.weights) w *= scale;
  const auto at =
      std::find_if(c.items.begin(), c.items.end(), [&](const Candidate& x) { return x.token == guess.token; });
  if (at != c.items.end()) {
    const auto place = static_cast<size_t>(at - c.items.begin());
    const double q = probability_of(guess.drawn_from, guess.token);
    if (accepts(c.weights[place], q, uniform(params_.seed, state_.step, kAcceptStream))) return place;
  }
  const double u = uniform(params_.seed, state_.step, kResidualStream);
  double left = 0;
  for (size_t i = 0; i < c.items.size(); ++i) {
    c.weights[i] = residual(c.weights[i], probability_of(guess.drawn_from, c.items[i].token));
    left += c.weights[i];
  }
  // Rounding may leave nothing where the two distributions are the same: then any token of the chain's is right.
  if (!(left > 0)) left = weigh(c);
  return place_of(c.weights, u * left);
}

Status Sampler::continuations(std::span<float> logits, std::span<const int32_t> history, std::span<const uint32_t> mask,
                              size_t count, std::vector<TokenLogprob>* out) {
  const LentScratch lent(candidates_, raw_, maxima_);
  out->clear();
  NEREID_TRY(const int32_t best, run_chain(logits, history, mask, false));
  (void)best;
  const double total = log_sum_exp(logits);
  select_top(logits, count, &maxima_, &candidates_.items);
  for (const Candidate& c : candidates_.items) {
    const bool is_whole = std::isinf(total);
    out->push_back({c.token, is_whole ? 0.0F : static_cast<float>(c.logit - total)});
    if (is_whole) break;
  }
  return Status::ok();
}

Status Sampler::distribution(std::span<float> logits, std::span<const int32_t> history, std::span<const uint32_t> mask,
                             std::vector<TokenProbability>* out) {
  const LentScratch lent(candidates_, raw_, maxima_);
  out->clear();
  NEREID_TRY(const int32_t best, run_chain(logits, history, mask, !params_.is_greedy()));
  if (is_certain(logits, best)) {
    out->push_back({best, 1.0F});
    return Status::ok();
  }
  filter_candidates(logits);
  const double sum = weigh(candidates_);
  for (size_t i = 0; i < candidates_.items.size(); ++i) {
    if (candidates_.weights[i] > 0)
      out->push_back({candidates_.items[i].token, static_cast<float>(candidates_.weights[i] / sum)});
  }
  std::sort(out->begin(), out->end(),
            [](const TokenProbability& a, const TokenProbability& b) { return a.token < b.token; });
  return Status::ok();
}

}  // namespace nereid::sample
