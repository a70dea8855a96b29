// SPDX-License-Identifier: Apache-2.0
// Finds the candidates without ever listing a whole vocabulary where the filters would drop most of it anyway.
#include <algorithm>
#include <limits>

#include "llm/sample/logits.h"
#include "llm/sample/portable_math.h"
#include "llm/sample/steps.h"

namespace nereid::sample {
namespace {

// Top-p keeps no token outside the best ones that together reach p of everything: ever wider bands below the best logit
// are tried until one holds so much. What min-p would drop is not gathered either: it bounds logits, in whatever order.
void gather_for_top_p(const SamplingParams& params, std::span<const float> logits, Candidates* c) {
  constexpr double kMargin = 1 + 1e-6;  // sums of other orders differ by less
  const float best = max_of(logits);
  c->weights.assign(logits.begin(), logits.end());
  exp_all(c->weights, best, 1.0F);
  const double total = sum_of(c->weights);
  const float floor = params.min_p > 0 ? best + static_cast<float>(stable_log(params.min_p)) : kNegativeInfinity;
  for (float band = 3;; band *= 1.5F) {
    const bool is_last = best - band <= floor || band > 80;
    gather_above(logits, is_last ? floor : best - band, &c->items);
    const double sum = weigh(*c);
    if (!is_last && sum < total * params.top_p * kMargin) continue;
    c->left_out = std::max(0.0, total - sum);
    return;
  }
}

}  // namespace

void gather_candidates(const SamplingParams& params, std::span<const float> logits, std::vector<float>* maxima,
                       Candidates* c) {
  c->is_sorted = false;
  c->left_out = 0;
  const bool only_top = params.top_k > 0 && static_cast<size_t>(params.top_k) < logits.size();
  if (only_top) {  // the step of that name then finds its work done
    select_top(logits, static_cast<size_t>(params.top_k), maxima, &c->items);
    c->is_sorted = true;
  } else if (params.typical_p < 1.0F) {
    gather_above(logits, kNegativeInfinity, &c->items);
  } else if (params.top_p < 1.0F) {
    gather_for_top_p(params, logits, c);
  } else if (params.min_p > 0.0F) {
    gather_above(logits, max_of(logits) + static_cast<float>(stable_log(params.min_p)), &c->items);
  } else {
    gather_above(logits, kNegativeInfinity, &c->items);
  }
}

}  // namespace nereid::sample
