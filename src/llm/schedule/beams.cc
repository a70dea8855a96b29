// SPDX-License-Identifier: Apache-2.0
// beams: choices that are one search. They run in the same step or not at all, go on from each other, pause together,
// and are forked again from their prompt when they go on after a pause.
#include <algorithm>

#include "llm/schedule/scheduler_impl.h"

namespace nereid::schedule {

// How far prompts are computed. Of a beam the last token waits for the others; of beams that paused, the first one's
// prompt comes before anything else.
int32_t Scheduler::Impl::goal(const Branch& b) const {
  const Entry& e = *b.entry;
  if (!e.request.beams || b.answered == 0) return b.known();
  return e.has_forked ? b.known() - 1 : e.counts.prompt_tokens;
}

bool Scheduler::Impl::may_pause(const Branch& b) const {
  if (!b.entry->request.beams) return !b.is_planned;
  return std::ranges::none_of(b.entry->branches, [](const auto& beam) { return beam->is_planned; });
}

void Scheduler::Impl::decode_beams(Entry& e) {
  const auto& beams = e.branches;
  if (!std::ranges::all_of(beams, [&](const auto& b) { return b->is_running && is_decoding(*b); })) return;
  // Where it is alone, or has reserved its pages, there is room; reckoned one by one, two that share a page would seem
  // to need two.
  const auto live = static_cast<int32_t>(beams.size());
  const auto needed = [&] {
    int32_t pages = 0;
    for (const auto& b : beams) pages += cache->pages_for(b->sequence, 1);
    return pages;
  };
  if (e.reserved_pages == 0)
    while (running.size() > beams.size() && needed() > cache->available()) {
      Branch& last = *running.back();
      pause(last);
      if (last.entry == &e) return;
    }
  for (int32_t i = 0; i < live; ++i) {
    Branch& b = *beams[static_cast<size_t>(i)];
    NEREID_CHECK(cache->append(b.sequence, {&b.tokens.back(), 1}).is_ok());
    run(b, 1, false, i + 1 < live ? 1 : e.request.choices - i);
  }
}

void Scheduler::Impl::pause_beams(Entry& e) {
  for (auto b = e.branches.rbegin(); b != e.branches.rend(); ++b)
    if ((*b)->is_running) stop(**b);
  e.has_forked = false;
  wait(*e.branches[0]);
}

// The prompt of beams that paused has been computed again.
void Scheduler::Impl::gather_beams(Entry& e) {
  e.has_forked = true;
  for (size_t i = 1; i < e.branches.size(); ++i) {
    Result<kv::SequenceId> sequence = cache->fork(e.branches[0]->sequence);
    NEREID_CHECK(sequence.is_ok());
    e.branches[i]->sequence = *sequence;
    start(*e.branches[i]);
  }
}

// What each beam says, once for all of them.
void Scheduler::Impl::take_beams(Entry& e, std::span<const Outcome> outcomes) {
  auto& beams = e.branches;
  const auto live = static_cast<size_t>(
      std::ranges::find_if(outcomes, [](const Outcome& o) { return o.tokens.empty(); }) - outcomes.begin());
  const int32_t answered = beams[0]->answered + 1;
  totals.answer_tokens += static_cast<int64_t>(live);
  e.has_forked = true;
  if (live == 0 || answered >= e.request.max_tokens) {
    e.live = static_cast<int32_t>(beams.size());
    for (const auto& b : beams) end_branch(*b);
    return;
  }
  std::vector<int32_t> heirs(beams.size());
  for (const Outcome& o : outcomes.first(live)) ++heirs[static_cast<size_t>(o.parent)];
  // Rows first: those that nobody goes on from make room for forks.
  for (size_t i = 0; i < beams.size(); ++i)
    if (heirs[i] == 0) cache->close(beams[i]->sequence);
  std::vector<kv::SequenceId> sequences(live);
  std::vector<std::vector<int32_t>> tokens(live);
  for (size_t i = 0; i < live; ++i) {
    const auto parent = static_cast<size_t>(outcomes[i].parent);
    tokens[i] = beams[parent]->tokens;
    tokens[i].push_back(outcomes[i].tokens[0]);
    sequences[i] = beams[parent]->sequence;
    if (--heirs[parent] == 0) continue;  // the last heir has the sequence itself
    Result<kv::SequenceId> fork = cache->fork(beams[parent]->sequence);
    NEREID_CHECK(fork.is_ok());
    sequences[i] = *fork;
  }
  for (; beams.size() > live; beams.pop_back()) leave(*beams.back());
  for (size_t i = 0; i < live; ++i) {
    if (i == beams.size()) {
      beams.push_back(std::make_unique<Branch>());
      beams[i]->entry = &e;
      beams[i]->choice = static_cast<int32_t>(i);
      start(*beams[i]);
    }
    beams[i]->sequence = sequences[i];
    beams[i]->tokens = std::move(tokens[i]);
    beams[i]->answered = answered;
  }
  e.live = static_cast<int32_t>(live);
}

}  // namespace nereid::schedule
