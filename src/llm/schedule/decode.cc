// SPDX-License-Identifier: Apache-2.0
// decode: every running answer gets its next token, the most senior first. Where pages lack, the least senior of all
// that run pauses; it has not been planned yet, because it would come last.
#include <algorithm>

#include "llm/schedule/scheduler_impl.h"

namespace nereid::schedule {

bool Scheduler::Impl::decode_one(Branch& b, int32_t most_drafts) {
  const std::span<const int32_t> tokens = b.tokens;
  const auto at = static_cast<size_t>(b.known() - 1);
  // Of drafts no more than the answer may still use beside the token that is drawn.
  int32_t drafts = std::min({b.drafts, most_drafts, b.entry->request.max_tokens - b.answered - 1});
  // Nor beyond its context: a shift comes at the same token with and without them.
  if (const int32_t context = b.entry->request.shift_at; context > 0)
    drafts = std::min(drafts, std::max(0, context - b.known()));
  if (drafts > 0 && cache->pages_for(b.sequence, 1 + drafts) > cache->available()) drafts = 0;
  b.tokens.resize(b.tokens.size() - static_cast<size_t>(b.drafts - drafts));
  b.drafts = drafts;
  if (!cache->append(b.sequence, tokens.subspan(at, 1 + static_cast<size_t>(drafts))).is_ok()) return false;
  run(b, 1 + drafts, false, 1);
  return true;
}

void Scheduler::Impl::decode() {
  auto left = static_cast<int32_t>(std::ranges::count_if(running, [&](Branch* b) { return is_decoding(*b); }));
  for (size_t i = 0; i < running.size(); ++i) {
    Branch& b = *running[i];
    if (!is_decoding(b)) continue;
    if (b.entry->request.beams) {
      if (b.choice == 0) decode_beams(*b.entry);
      --left;
      continue;
    }
    // Each of those to come needs a token of the budget.
    while (b.is_running && !decode_one(b, budget - left)) pause(*running.back());
    --left;
  }
}

}  // namespace nereid::schedule
