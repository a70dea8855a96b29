// SPDX-License-Identifier: Apache-2.0
#include "server/backend/tokens/word_ids.h"

namespace nereid::server {

size_t word_columns(const std::vector<std::vector<int32_t>>& words) {
  size_t n = 0;
  for (const std::vector<int32_t>& word : words) n += word.size();
  return n;
}

std::vector<int32_t> word_ids(const std::vector<std::vector<int32_t>>& words, size_t n) {
  std::vector<int32_t> out(2 * n, 0);
  for (size_t i = n; i < 2 * n; ++i) out[i] = -1;
  size_t at = 0, word = 0;
  for (const std::vector<int32_t>& one : words) {
    if (one.empty() || at + one.size() > n) continue;
    for (const int32_t id : one) out[at++] = id;
    out[n + word++] = static_cast<int32_t>(at);
  }
  return out;
}

}  // namespace nereid::server
