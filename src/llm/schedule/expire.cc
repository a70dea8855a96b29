// SPDX-License-Identifier: Apache-2.0
// expire: what was cancelled, or has waited or run for too long, ends before anything else is decided.
#include <algorithm>

#include "llm/schedule/scheduler_impl.h"

namespace nereid::schedule {

void Scheduler::Impl::end_request(Entry& e, EndReason reason) {
  const auto report = [&](int32_t choice) {
    step.ended.push_back({.request = e.request.id, .choice = choice, .reason = reason});
  };
  ++(reason == EndReason::kTimeout ? totals.timed_out : totals.cancelled);
  const bool all_at_once = !e.has_forked || e.request.beams;
  if (all_at_once)
    for (int32_t i = 0; i < e.request.choices; ++i) report(i);
  for (const auto& b : e.branches) {
    if (b->has_ended) continue;
    if (!all_at_once) report(b->choice);
    end_branch(*b);
  }
  end_entry(e);
}

void Scheduler::Impl::expire() {
  for (uint64_t id : cancelled)
    if (const auto it = entries.find(id); it != entries.end() && it->second->is_cancelled)
      end_request(*it->second, EndReason::kCancelled);
  cancelled.clear();
  if (next_expiry_us == 0 || now_us < next_expiry_us) return;
  std::vector<Entry*> late;
  next_expiry_us = 0;
  for (const auto& [id, e] : entries) {
    const int64_t at = e->request.expires_us;
    if (at == 0) continue;
    if (at <= now_us)
      late.push_back(e.get());
    else if (next_expiry_us == 0 || at < next_expiry_us)
      next_expiry_us = at;
  }
  std::ranges::sort(late, {}, &Entry::order);
  for (Entry* e : late) end_request(*e, EndReason::kTimeout);
}

}  // namespace nereid::schedule
