// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/low_rank.h"

#include <algorithm>

namespace nereid::kernels {

int64_t low_rank_columns(int64_t cols) {
  return (cols + 15) / 16 * 16;
}

int64_t low_rank_scratch_bytes(int64_t tokens, int64_t cols, int64_t ranks, int workers) {
  // Normalised rows and the products with A; a set for each worker where each does all of it (isa/low_rank.cc).
  const int64_t row = (low_rank_columns(cols) + low_rank_columns(ranks)) * 4;
  return std::max(tokens * row, int64_t{workers} * kLowRankPrivateTokens * row);
}

}  // namespace nereid::kernels
