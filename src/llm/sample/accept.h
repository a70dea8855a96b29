// SPDX-License-Identifier: Apache-2.0
// Speculative sampling (Leviathan et al. 2023; Chen et al. 2023): a guess x drawn from q becomes a draw from p.
//
// Accepted with probability min(1, p(x) / q(x)); otherwise a token is drawn from max(0, p - q), normalised. The result
// has exactly the distribution p.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace nereid::sample {

struct TokenProbability {
  int32_t token;
  float probability;
};

// 0 for a token that is not named. `distribution` is sorted by token.
inline float probability_of(std::span<const TokenProbability> distribution, int32_t token) {
  const auto at = std::lower_bound(distribution.begin(), distribution.end(), token,
                                   [](const TokenProbability& x, int32_t t) { return x.token < t; });
  return at != distribution.end() && at->token == token ? at->probability : 0.0F;
}

// `u` is uniform in [0, 1). A guess that q says cannot be is never accepted.
inline bool accepts(double p, double q, double u) {
  return q > 0 && u * q < p;
}

// The seed of a draft model's sampler: its draws must know nothing of those that judge them.
constexpr uint64_t draft_seed(uint64_t seed) {
  return seed ^ 0x5DEECE66D1234567ULL;
}

inline float residual(float p, float q) {
  return p > q ? p - q : 0.0F;
}

}  // namespace nereid::sample
