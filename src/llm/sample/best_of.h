// SPDX-License-Identifier: Apache-2.0
// Which of several answers are given: the likeliest ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace nereid::sample {

// How likely an answer is, by which answers of different lengths are compared as OpenAI's best_of does: the mean
// log-probability of its tokens (of SampleResult::logprob).
inline double answer_score(double logprobs, int64_t tokens) {
  return logprobs / static_cast<double>(std::max<int64_t>(tokens, 1));
}

// The places of the `wanted` answers of the greatest scores, likeliest first; of equal ones the earlier.
inline std::vector<int32_t> best_answers(std::span<const double> scores, size_t wanted) {
  std::vector<int32_t> places(scores.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int32_t a, int32_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  places.resize(std::min(places.size(), wanted));
  return places;
}

}  // namespace nereid::sample
