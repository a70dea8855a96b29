// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear.h"

namespace nereid::kernels {
namespace {

int64_t padded_columns(int64_t cols) {
  return (cols + kBlockColumns - 1) / kBlockColumns * kBlockColumns;
}

}  // namespace

int64_t linear_rows_bytes(int64_t tokens, int64_t cols) {
  const int64_t padded = padded_columns(cols);
  // normalised floats; codes, scales (per 32) and sums (per 16 at most) for whole blocks of 16 tokens
  const int64_t blocked = tokens <= 16 ? tokens : (tokens + 15) / 16 * 16;
  const int64_t bytes = tokens * padded * 4 + blocked * (padded + padded / 32 * 4 + padded / 16 * 4);
  return (bytes + 63) / 64 * 64;
}

int64_t linear_unpacked_bytes(int64_t cols) {
  return padded_columns(cols) * kTileRows;
}

int64_t linear_scratch_bytes(int64_t tokens, int64_t cols, int workers) {
  return workers * (linear_rows_bytes(tokens, cols) + linear_unpacked_bytes(cols));
}

}  // namespace nereid::kernels
