// SPDX-License-Identifier: Apache-2.0
// The steps that drop tokens by their probabilities. None sorts more than it must, none allocates after its first call.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "llm/sample/portable_math.h"
#include "llm/sample/steps.h"

namespace nereid::sample {
namespace {

// Keeps the items of the smallest keys (c.keys, >= 0; of equal ones the better candidate) until their weights
// (c.weights) reach `wanted`, or where `beyond` pass it; one at least. A histogram over the keys finds where the border
// lies; only the items of that bin are sorted, those before it stay in whatever their order.
void keep_until(Candidates& c, double wanted, bool beyond) {
  constexpr int32_t kBins = 1024;
  constexpr float kBinsPerUnit = 16;
  c.bins.resize(c.items.size());
  for (size_t i = 0; i < c.items.size(); ++i) {
    const float bin = c.keys[i] * kBinsPerUnit;
    c.bins[i] = static_cast<int32_t>(bin < kBins - 1 ? bin : kBins - 1);
  }
  auto is_enough = [&](double sum) { return beyond ? sum > wanted : sum >= wanted; };
  std::array<double, kBins> mass{};
  for (size_t i = 0; i < c.items.size(); ++i) mass[static_cast<size_t>(c.bins[i])] += c.weights[i];
  int32_t border = 0;
  double sum = 0;
  while (border + 1 < kBins && !is_enough(sum + mass[static_cast<size_t>(border)]))
    sum += mass[static_cast<size_t>(border++)];
  // The items at the border: key in `logit`, place in `token`, so that one sort serves every key.
  c.border.resize(c.items.size());
  size_t before = 0;
  size_t at_border = 0;
  for (size_t i = 0; i < c.items.size(); ++i) {
    before += c.bins[i] < border ? 1 : 0;
    c.border[at_border] = {static_cast<int32_t>(i), c.keys[i]};
    at_border += c.bins[i] == border ? 1 : 0;
  }
  c.border.resize(at_border);
  std::sort(c.border.begin(), c.border.end(), [&](const Candidate& a, const Candidate& b) {
    if (a.logit != b.logit) return a.logit < b.logit;
    return is_better(c.items[static_cast<size_t>(a.token)], c.items[static_cast<size_t>(b.token)]);
  });
  size_t taken = 0;
  while (taken < c.border.size() && (before + taken == 0 || !is_enough(sum)))
    sum += c.weights[static_cast<size_t>(c.border[taken++].token)];
  for (size_t i = 0; i < taken; ++i) {
    const Candidate& item = c.items[static_cast<size_t>(c.border[i].token)];
    c.border[i] = item;
  }
  size_t kept = 0;
  for (size_t i = 0; i < c.items.size(); ++i) {
    c.items[kept] = c.items[i];
    kept += c.bins[i] < border ? 1 : 0;
  }
  c.items.resize(kept);
  c.items.insert(c.items.end(), c.border.begin(), c.border.begin() + static_cast<std::ptrdiff_t>(taken));
  c.is_sorted = false;
}

}  // namespace

void keep_top_k(const ChainContext& chain, Candidates& c) {
  const auto k = static_cast<size_t>(chain.params.top_k);
  if (k >= c.items.size()) return;
  sort_best(c, k);
  c.items.resize(k);
  c.is_sorted = true;
}

// Nucleus sampling (Holtzman et al. 2020): the best tokens until they reach p together.
void keep_top_p(const ChainContext& chain, Candidates& c) {
  const double wanted = (weigh(c) + c.left_out) * chain.params.top_p;
  c.left_out = 0;
  if (c.is_sorted) {
    size_t kept = 0;
    double sum = 0;
    while (kept < c.items.size() && (kept == 0 || sum < wanted)) sum += c.weights[kept++];
    c.items.resize(kept);
    return;
  }
  const float best = best_logit(c);
  c.keys.resize(c.items.size());
  for (size_t i = 0; i < c.items.size(); ++i) c.keys[i] = best - c.items[i].logit;
  keep_until(c, wanted, false);
}

// p_i >= min_p * p_max, as a bound on logits: no exponentials, no sorting.
void keep_min_p(const ChainContext& chain, Candidates& c) {
  const float bound = best_logit(c) + static_cast<float>(stable_log(chain.params.min_p));
  std::erase_if(c.items, [&](const Candidate& x) { return !(x.logit >= bound); });
}

// Locally typical sampling (Meister et al. 2022): the tokens whose surprise is nearest to the entropy, until they pass
// p.
void keep_typical(const ChainContext& chain, Candidates& c) {
  const double sum = weigh(c);
  const double log_sum = stable_log(sum);
  const float best = best_logit(c);
  auto surprise = [&](const Candidate& x) { return log_sum - (static_cast<double>(x.logit) - best); };
  double entropy = 0;
  for (size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] > 0) entropy += c.weights[i] / sum * surprise(c.items[i]);
  }
  c.keys.resize(c.items.size());
  for (size_t i = 0; i < c.items.size(); ++i) c.keys[i] = static_cast<float>(std::abs(surprise(c.items[i]) - entropy));
  keep_until(c, sum * chain.params.typical_p, true);
}

// Top-n-sigma (Tang et al. 2024): logits within n standard deviations of the greatest.
void keep_top_n_sigma(LogitContext& c) {
  const Moments moments = moments_of(c.logits);
  const float best = max_of(c.logits);
  // At least the best stays, whatever rounding does.
  const float bound = std::min(best, static_cast<float>(best - c.params.top_n_sigma * moments.deviation));
  for (float& l : c.logits) l = l >= bound ? l : -std::numeric_limits<float>::infinity();
}

}  // namespace nereid::sample
