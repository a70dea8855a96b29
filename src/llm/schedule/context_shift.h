// SPDX-License-Identifier: Apache-2.0
// What an answer that has filled its context goes on from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::schedule {

// Keeps the first `keep` tokens (at most half of all) and the newer half of the others, in order. What stays is
// computed anew at its new positions: keys and values hold what came before them, so no rotation of old ones gives
// those of a sequence that never had the tokens dropped. The answer then is the one that the tokens that stay would get
// alone.
inline void shift_context(std::vector<int32_t>* tokens, int32_t keep) {
  const size_t kept = std::min(static_cast<size_t>(std::max(keep, 0)), tokens->size() / 2);
  const size_t dropped = (tokens->size() - kept + 1) / 2;
  const auto from = tokens->begin() + static_cast<ptrdiff_t>(kept);
  tokens->erase(from, from + static_cast<ptrdiff_t>(dropped));
}

}  // namespace nereid::schedule
