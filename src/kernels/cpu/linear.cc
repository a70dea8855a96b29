// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear.h"

namespace nereid::kernels {

int64_t linear_scratch_bytes(int64_t tokens, int64_t cols, int workers) {
  const int64_t padded = (cols + kBlockColumns - 1) / kBlockColumns * kBlockColumns;
  // normalised floats + codes + scales (per 32) + sums (per 16 at most)
  const int64_t bytes = tokens * (padded * 4 + padded + padded / 32 * 4 + padded / 16 * 4);
  return (bytes + 63) / 64 * 64 * workers;
}

}  // namespace nereid::kernels
