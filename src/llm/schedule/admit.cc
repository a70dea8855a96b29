// SPDX-License-Identifier: Apache-2.0
// admit: whether a request that waits gets in now. It needs rows of the page table for all its choices, and pages: what
// its prompt takes beside what others have been promised, or, where none may ever pause, what all of it takes to the
// end. One whose prefix another is computing is better off to wait for it.
#include <algorithm>

#include "llm/schedule/scheduler_impl.h"

namespace nereid::schedule {

// The whole pages of the prompt; with a window they may slide out of one and be held by another.
int32_t Scheduler::Impl::shared_pages(const Entry& e) const {
  return cache->options().window > 0 ? 0 : e.counts.prompt_tokens / cache->options().page_tokens;
}

// The most that all of its answers ever hold together.
int32_t Scheduler::Impl::pages_to_the_end(const Entry& e, int32_t live) const {
  int64_t all = static_cast<int64_t>(e.counts.prompt_tokens) + e.request.max_tokens;
  if (e.request.shift_at > 0) all = std::min<int64_t>(all, e.request.shift_at);
  const int32_t each = cache->pages_of_length(all, options.step_tokens);
  const int32_t shared = shared_pages(e);
  return shared + live * (each - shared);
}

bool Scheduler::Impl::fits(const Branch& b, const kv::Match& match) {
  if (options.policy == Policy::kGuaranteedNoEvict) {
    // A request that paused keeps what it has reserved, so this is asked of new ones only.
    const Entry& e = *b.entry;
    return e.reserved_pages > 0 || pages_reserved + pages_to_the_end(e, e.live) <= cache->options().pages;
  }
  if (running.empty()) return true;
  int32_t needed = cache->pages_of_length(b.known() + 1, options.step_tokens) - match.shared_pages;
  if (b.entry->request.beams) needed += (b.entry->live - 1) * (needed + match.shared_pages - shared_pages(*b.entry));
  int32_t promised = 0;
  for (const Branch* other : running)
    if (!is_decoding(*other)) promised += cache->pages_for(other->sequence, to_compute(*other));
  // Answers grow: a page for each, so that not every admission makes somebody pause soon after.
  const int32_t headroom = std::min(static_cast<int32_t>(running.size()), cache->options().pages / 8);
  return needed + promised + headroom <= cache->available() - match.idle_pages;
}

// Whether a prompt that is being computed has at least a page more in common with it than the cache has by now.
bool Scheduler::Impl::another_computes_more(const Branch& b, int32_t found) const {
  const int32_t page = cache->options().page_tokens;
  const auto wanted = static_cast<size_t>(found + page);
  const std::span<const int32_t> own(b.tokens.data(), static_cast<size_t>(b.known() - 1));
  if (own.size() < wanted) return false;
  return std::ranges::any_of(running, [&](const Branch* other) {
    if (is_decoding(*other) || other->tokens.size() < wanted || other->entry->request.key != b.entry->request.key)
      return false;
    return std::equal(own.begin(), own.begin() + static_cast<ptrdiff_t>(wanted), other->tokens.begin());
  });
}

Scheduler::Impl::Admission Scheduler::Impl::admit(Branch& b) {
  Entry& e = *b.entry;
  // Beams that paused are forked again where their prompt ends.
  const bool is_gathering = e.request.beams && b.answered > 0;
  const kv::OpenRequest request{.key = e.request.key,
                                .tokens = {b.tokens.data(), static_cast<size_t>(b.known())},
                                .max_reuse = !e.request.reuse_prefix ? 0
                                             : is_gathering          ? goal(b) - 1
                                                                     : -1,
                                .retention = e.request.retention};
  const kv::Match match = cache->match(request);
  if (options.wait_for_prefix && e.request.reuse_prefix && cache->options().reuse &&
      another_computes_more(b, match.tokens))
    return Admission::kLater;
  if (rows_taken + rows_of(b) > rows() || !fits(b, match)) return Admission::kNoRoom;
  const Result<kv::Opened> opened = cache->open(request);
  if (!opened.is_ok()) return Admission::kNoRoom;
  b.sequence = opened->sequence;
  totals.reused_tokens += opened->reused_tokens;
  if (!e.has_started) e.counts.reused_tokens = std::min(opened->reused_tokens, e.counts.prompt_tokens);
  if (options.policy == Policy::kGuaranteedNoEvict && e.reserved_pages == 0)
    pages_reserved += e.reserved_pages = pages_to_the_end(e, e.live);
  start(b);
  return Admission::kIn;
}

}  // namespace nereid::schedule
