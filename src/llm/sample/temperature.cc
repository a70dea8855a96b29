// SPDX-License-Identifier: Apache-2.0
// Temperature, and temperature that follows the entropy (EDT; Zhang et al. 2024, in llama.cpp's form).
#include <algorithm>

#include "llm/sample/portable_math.h"
#include "llm/sample/steps.h"

namespace nereid::sample {
namespace {

// From temperature - range where the next token is certain to temperature + range where all are equally likely.
float dynamic_temperature(const SamplingParams& p, Candidates& c) {
  const float low = std::max(0.0F, p.temperature - p.dynatemp_range);
  const float high = p.temperature + p.dynatemp_range;
  const double sum = weigh(c);
  double entropy = stable_log(sum);
  const float best = best_logit(c);
  for (size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] > 0) entropy -= c.weights[i] / sum * (static_cast<double>(c.items[i].logit) - best);
  }
  const double share = std::clamp(entropy / stable_log(static_cast<double>(c.items.size())), 0.0, 1.0);
  return low + (high - low) * static_cast<float>(stable_pow(share, p.dynatemp_exponent));
}

}  // namespace

void apply_temperature(const ChainContext& chain, Candidates& c) {
  float temperature = chain.params.temperature;
  if (chain.params.dynatemp_range > 0) {
    if (c.items.size() < 2) return;
    temperature = dynamic_temperature(chain.params, c);
  }
  if (temperature <= 0) {
    c.items = {*std::min_element(c.items.begin(), c.items.end(), is_better)};
    return;
  }
  for (Candidate& x : c.items) x.logit /= temperature;
}

}  // namespace nereid::sample
