// SPDX-License-Identifier: Apache-2.0
// Which of several answers are given: the likeliest ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace nereid::sample {

// The places of the `wanted` answers of the greatest cumulative log-probability (the sum of SampleResult::logprob),
// likeliest first; of equal ones the earlier.
inline std::vector<int32_t> best_answers(std::span<const double> logprobs, size_t wanted) {
  std::vector<int32_t> places(logprobs.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int32_t a, int32_t b) {
    return logprobs[static_cast<size_t>(a)] > logprobs[static_cast<size_t>(b)];
  });
  places.resize(std::min(places.size(), wanted));
  return places;
}

}  // namespace nereid::sample
