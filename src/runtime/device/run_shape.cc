// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/run_shape.h"

#include <algorithm>
#include <bit>

namespace nereid::runtime {

void find_runs(std::span<const int32_t> positions, std::span<const int32_t> sequences, TokenRuns* runs) {
  runs->begin.clear();
  runs->longest = 0;
  runs->last_position = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    runs->last_position = std::max(runs->last_position, positions[i]);
    if (i == 0 || sequences[i] != sequences[i - 1] || positions[i] != positions[i - 1] + 1)
      runs->begin.push_back(static_cast<int32_t>(i));
    runs->longest = std::max(runs->longest, static_cast<int64_t>(i) + 1 - runs->begin.back());
  }
  runs->begin.push_back(static_cast<int32_t>(positions.size()));
}

int64_t row_bucket(int64_t n, int64_t bound) {
  if (n <= 0) return 0;
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
  const int64_t step = power <= 8 ? power : power / 8;
  return std::min((n + step - 1) / step * step, bound);
}

int64_t position_bucket(int64_t n, int64_t bound) {
  constexpr int64_t kLeast = 256;
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
  return std::min(std::max(power, kLeast), std::max(n, bound));
}

}  // namespace nereid::runtime
