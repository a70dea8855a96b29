// SPDX-License-Identifier: Apache-2.0
// Guesses at the tokens to come, from what was said before (prompt lookup decoding; Saxena 2023).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nereid::sample {

struct LookupOptions {
  int32_t tokens = 8;     // guessed at most
  int32_t ngram = 3;      // the longest end of the history that is looked up; shorter ones are tried after it
  int64_t window = 4096;  // how far back is looked
};

// What followed the latest earlier place at which the history's last `ngram` (or fewer, at least one) tokens stand; as
// many of them as wanted, none where there is no such place. Pure; linear in the window.
void look_up_draft(std::span<const int32_t> history, const LookupOptions& options, std::vector<int32_t>* draft);

}  // namespace nereid::sample
