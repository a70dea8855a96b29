// SPDX-License-Identifier: Apache-2.0
// Algorithms 1 and 2 of the paper's appendix, as everybody runs them.
#include "llm/sample/mirostat.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "llm/sample/portable_math.h"

namespace nereid::sample {
namespace {

constexpr size_t kFitted = 100;  // tokens that Zipf's exponent is fitted to
constexpr double kLn2 = 0.69314718055994530942;

// Least squares over log(p_i / p_(i+1)) = s * log((i + 2) / (i + 1)); the candidates are sorted that far.
double zipf_exponent(const Candidates& c) {
  double products = 0;
  double squares = 0;
  for (size_t i = 0; i + 1 < std::min(c.items.size(), kFitted); ++i) {
    const double t = stable_log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    const double b = static_cast<double>(c.items[i].logit) - c.items[i + 1].logit;
    products += t * b;
    squares += t * t;
  }
  return squares > 0 ? products / squares : 0;
}

// k = ((s - 1) 2^mu / (1 - N^(1 - s)))^(1/s)
size_t kept_by_zipf(double s, float mu, size_t vocabulary, size_t most) {
  const double epsilon = s - 1;
  const double n = static_cast<double>(vocabulary);
  const double shift = 1 - stable_pow(n, -epsilon);
  // As s goes to 1 the quotient goes to 2^mu / ln N.
  const double quotient = std::abs(epsilon) < 1e-9 ? 1 / stable_log(n) : epsilon / shift;
  const double k = s > 0 ? stable_pow(quotient * stable_exp(mu * kLn2), 1 / s) : stable_exp(mu * kLn2);
  if (!(k >= 1)) return 1;
  return k < static_cast<double>(most) ? static_cast<size_t>(k) : most;
}

}  // namespace

void gather_mirostat(const ChainContext& chain, float mu, std::span<const float> logits, std::vector<float>* maxima,
                     Candidates* c) {
  c->left_out = 0;
  if (chain.params.dynatemp_range > 0) {  // the temperature is known only when all are there
    c->is_sorted = false;
    gather_above(logits, -std::numeric_limits<float>::infinity(), &c->items);
    apply_temperature(chain, *c);
    if (chain.params.mirostat == 1) {
      sort_best(*c, c->items.size());
      c->items.resize(kept_by_zipf(zipf_exponent(*c), mu, logits.size(), c->items.size()));
      return;
    }
    const float best = best_logit(*c);
    const double bound = best + stable_log(weigh(*c)) - mu * kLn2;
    const Candidate first = *std::min_element(c->items.begin(), c->items.end(), is_better);
    std::erase_if(c->items, [&](const Candidate& x) { return x.logit < bound; });
    if (c->items.empty()) c->items.push_back(first);
    return;
  }
  const float temperature = chain.params.temperature;
  if (chain.params.mirostat == 1) {
    select_top(logits, kFitted, maxima, &c->items);
    c->is_sorted = true;
    apply_temperature(chain, *c);
    const size_t k = kept_by_zipf(zipf_exponent(*c), mu, logits.size(), logits.size());
    if (k > kFitted) {
      select_top(logits, k, maxima, &c->items);
      apply_temperature(chain, *c);
    } else {
      c->items.resize(std::min(k, c->items.size()));
    }
    return;
  }
  c->is_sorted = false;
  const float best = max_of(logits);
  c->weights.assign(logits.begin(), logits.end());
  exp_all(c->weights, best, 1.0F / temperature);
  // In units of the logits as they are: surprise = ln(sum) + (best - logit) / temperature.
  const double bound = best + (stable_log(sum_of(c->weights)) - mu * kLn2) * temperature;
  gather_above(logits, std::min(best, static_cast<float>(bound)), &c->items);
  if (bound > best) c->items.resize(1);  // of equals the lowest token
  apply_temperature(chain, *c);
}

float mirostat_moved(const SamplingParams& params, float mu, double probability) {
  const double surprise = -stable_log(probability) / kLn2;
  return static_cast<float>(mu - params.mirostat_eta * (surprise - params.mirostat_tau));
}

}  // namespace nereid::sample
