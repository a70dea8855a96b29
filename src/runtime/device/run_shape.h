// SPDX-License-Identifier: Apache-2.0
// How a step's tokens lie in sequences, and the buckets that runs are rounded up to. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nereid::runtime {

// Runs of tokens of one sequence at consecutive positions.
struct TokenRuns {
  std::vector<int32_t> begin;  // of each, and behind the last one the number of tokens
  int64_t longest = 0;
  int32_t last_position = 0;  // the greatest

  int64_t count() const { return static_cast<int64_t>(begin.size()) - 1; }
};
void find_runs(std::span<const int32_t> positions, std::span<const int32_t> sequences, TokenRuns* runs);

// Up to so many tokens attend each by itself whatever their sequences.
inline constexpr int64_t kFewRunTokens = 16;

// The least bucket that holds `n`, at most `bound`: 0, 1, 2, 4, 8, then steps of an eighth of the next power of two.
int64_t row_bucket(int64_t n, int64_t bound);
// The same of positions: powers of two from 256 on.
int64_t position_bucket(int64_t n, int64_t bound);

}  // namespace nereid::runtime
