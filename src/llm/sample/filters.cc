// SPDX-License-Identifier: Apache-2.0
// The steps that drop tokens, and temperature.
#include <algorithm>
#include <array>
#include <cmath>

#include "llm/sample/steps.h"

namespace nereid::sample {

void keep_top_k(const SamplingParams& params, Candidates& c) {
  const auto k = static_cast<size_t>(params.top_k);
  if (k >= c.items.size()) return;
  sort_best(c, k);
  c.items.resize(k);
  c.is_sorted = true;
}

// Nucleus sampling (Holtzman et al. 2020): the best tokens until they reach p together. A histogram over the logits
// finds where the border lies; only the tokens of that bin are sorted, all above it are in whatever their order.
void keep_top_p(const SamplingParams& params, Candidates& c) {
  constexpr size_t kBins = 1024;
  constexpr float kBinsPerUnit = 16;
  const float best = best_logit(c);
  const double wanted = weigh(c) * params.top_p;
  auto bin_of = [&](const Candidate& x) {
    const float distance = (best - x.logit) * kBinsPerUnit;
    return distance < kBins - 1 ? static_cast<size_t>(distance) : kBins - 1;
  };
  std::array<double, kBins> mass{};
  for (size_t i = 0; i < c.items.size(); ++i) mass[bin_of(c.items[i])] += c.weights[i];
  size_t border = 0;
  double sum = 0;
  while (border + 1 < kBins && sum + mass[border] < wanted) sum += mass[border++];
  size_t kept = 0;
  std::vector<Candidate> at_border;
  for (const Candidate& x : c.items) {
    const size_t bin = bin_of(x);
    if (bin < border) c.items[kept++] = x;
    if (bin == border) at_border.push_back(x);
  }
  c.items.resize(kept);
  std::sort(at_border.begin(), at_border.end(), is_better);
  for (const Candidate& x : at_border) {
    if (!c.items.empty() && sum >= wanted) break;
    sum += exp_of(x.logit - best);
    c.items.push_back(x);
  }
  c.is_sorted = border == 0;
}

// p_i >= min_p * p_max, as a bound on logits: no exponentials, no sorting.
void keep_min_p(const SamplingParams& params, Candidates& c) {
  const float bound = best_logit(c) + std::log(params.min_p);
  std::erase_if(c.items, [&](const Candidate& x) { return !(x.logit >= bound); });
}

// Locally typical sampling (Meister et al. 2022): the tokens whose surprise is nearest to the entropy, until they reach
// p.
void keep_typical(const SamplingParams& params, Candidates& c) {
  sort_best(c, c.items.size());  // ties in typicality go to the likelier token
  const double sum = weigh(c);
  const double log_sum = std::log(sum);
  const float best = best_logit(c);
  auto surprise = [&](const Candidate& x) { return log_sum - (static_cast<double>(x.logit) - best); };
  double entropy = 0;
  for (size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] > 0) entropy += c.weights[i] / sum * surprise(c.items[i]);
  }
  std::stable_sort(c.items.begin(), c.items.end(), [&](const Candidate& a, const Candidate& b) {
    return std::abs(surprise(a) - entropy) < std::abs(surprise(b) - entropy);
  });
  double reached = 0;
  size_t i = 0;
  while (i < c.items.size() && (i == 0 || reached <= params.typical_p)) {
    reached += exp_of(c.items[i].logit - best) / sum;
    ++i;
  }
  c.items.resize(i);
  c.is_sorted = false;
}

void apply_temperature(const SamplingParams& params, Candidates& c) {
  for (Candidate& x : c.items) x.logit /= params.temperature;
}

}  // namespace nereid::sample
