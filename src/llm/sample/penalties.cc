// SPDX-License-Identifier: Apache-2.0
// Repetition (Keskar et al. 2019, for negative logits multiplied as everybody does), presence and frequency penalties
// over the last penalty_last_n tokens.
#include <algorithm>

#include "llm/sample/steps.h"

namespace nereid::sample {

void apply_penalties(LogitContext& c) {
  const SamplingParams& p = c.params;
  std::span<const int32_t> seen = c.history;
  if (p.penalty_last_n >= 0 && seen.size() > static_cast<size_t>(p.penalty_last_n)) {
    seen = seen.last(static_cast<size_t>(p.penalty_last_n));
  }
  std::vector<int32_t>& tokens = c.scratch->tokens;
  tokens.assign(seen.begin(), seen.end());
  std::sort(tokens.begin(), tokens.end());
  for (size_t i = 0; i < tokens.size();) {
    const int32_t token = tokens[i];
    size_t count = 0;
    for (; i < tokens.size() && tokens[i] == token; ++i) ++count;
    if (token < 0 || static_cast<size_t>(token) >= c.logits.size()) continue;
    float& logit = c.logits[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
    logit -= static_cast<float>(count) * p.frequency_penalty + p.presence_penalty;
  }
}

}  // namespace nereid::sample
