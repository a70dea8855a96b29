// SPDX-License-Identifier: Apache-2.0
// outcome: what came of a step: tokens and drafts that were accepted, choices forked from their prompt, ends.
#include <algorithm>

#include "llm/schedule/context_shift.h"
#include "llm/schedule/scheduler_impl.h"

namespace nereid::schedule {

void Scheduler::Impl::end_branch(Branch& b) {
  if (b.is_running)
    stop(b);
  else
    std::erase_if(waiting, [&](const Waiting& w) { return w.branch == &b; });
  b.has_ended = true;
  Entry& e = *b.entry;
  e.live -= e.has_forked ? 1 : e.live;
  if (e.reserved_pages == 0) return;
  pages_reserved -= e.reserved_pages;
  e.reserved_pages = e.live > 0 ? pages_to_the_end(e, e.live) : 0;
  pages_reserved += e.reserved_pages;
}

void Scheduler::Impl::end_entry(Entry& e) {
  shares.leave(e.user);
  entries.erase(e.request.id.v);
}

void Scheduler::Impl::take_outcome(Branch& b, const Outcome& o) {
  b.tokens.resize(static_cast<size_t>(b.known()));
  b.tokens.insert(b.tokens.end(), o.tokens.begin(), o.tokens.end());
  b.answered += static_cast<int32_t>(o.tokens.size());
  totals.answer_tokens += static_cast<int64_t>(o.tokens.size());
  b.drafts = 0;
  if (o.is_last || b.answered >= b.entry->request.max_tokens) return end_branch(b);
  if (const int32_t at = b.entry->request.shift_at; at > 0 && b.known() > at) return shift(b);
  b.drafts = static_cast<int32_t>(o.drafts.size());
  b.tokens.insert(b.tokens.end(), o.drafts.begin(), o.drafts.end());
}

// Its context is full: what stays of it is computed from where it differs.
void Scheduler::Impl::shift(Branch& b) {
  const std::vector<int32_t> before = b.tokens;
  shift_context(&b.tokens, b.entry->request.shift_keep);
  const auto differs = std::ranges::mismatch(before, b.tokens).in2 - b.tokens.begin();
  const auto same = std::min<int32_t>(static_cast<int32_t>(differs), b.known() - 1);
  ++totals.shifts;
  if (cache->truncate(b.sequence, std::min(same, cache->length(b.sequence))).is_ok()) return;
  // What it looks at there has slid out of its window: it begins anew.
  stop(b);
  wait(b);
}

void Scheduler::done(int64_t now_us, std::span<const Outcome> outcomes) {
  Impl& s = *impl_;
  NEREID_CHECK(s.is_in_step && outcomes.size() == static_cast<size_t>(s.step.outputs));
  s.is_in_step = false;
  int32_t prompt_tokens = 0, answers = 0;
  for (const Run& run : s.step.runs)
    run.is_prompt ? prompt_tokens += static_cast<int32_t>(run.tokens.size()) : ++answers;
  s.pace.learn(answers, prompt_tokens, now_us - s.now_us);
  for (Branch* b : s.planned) b->is_planned = false;
  size_t next = 0;
  for (size_t i = 0, count = 1; i < s.step.runs.size(); i += count) {
    const Entry& e = *s.planned[i]->entry;
    // Beams that answer lie beside each other and are taken together.
    const bool are_beams = e.request.beams && !s.step.runs[i].is_prompt;
    count = are_beams ? e.branches.size() : 1;
    size_t outputs = 0;
    for (size_t j = i; j < i + count; ++j) outputs += static_cast<size_t>(s.step.runs[j].outputs);
    s.take_runs(i, count, outcomes.subspan(next, outputs));
    next += outputs;
  }
}

void Scheduler::Impl::take_runs(size_t first, size_t count, std::span<const Outcome> own) {
  for (size_t i = first; i < first + count; ++i) {
    const Run& run = step.runs[i];
    if (run.drafts > 0) {
      // The first of the tokens is known; of the drafts as many were right as were given beside the one drawn.
      const size_t kept = own[0].tokens.size();
      NEREID_CHECK(kept >= 1 && kept <= run.tokens.size());
      NEREID_CHECK(cache->truncate(run.sequence, run.position + static_cast<int32_t>(kept)).is_ok());
    }
    cache->commit(run.sequence);
  }
  Branch& b = *planned[first];
  Entry& e = *b.entry;
  if (e.request.beams) {
    if (!own.empty())
      take_beams(e, own);
    else if (!e.has_forked && b.answered > 0 && cache->committed(b.sequence) == goal(b))
      gather_beams(e);
  } else if (!own.empty()) {
    if (!e.has_forked) fork(b, own);
    for (size_t j = 0; j < own.size(); ++j) {
      NEREID_CHECK(!own[j].tokens.empty());
      take_outcome(own.size() == 1 ? b : *e.branches[j], own[j]);
    }
  }
  if (e.live > 0) return;
  ++totals.done;
  end_entry(e);
}

// The prompt of several choices has been computed: from here each goes its own way.
void Scheduler::Impl::fork(Branch& first, std::span<const Outcome> outcomes) {
  Entry& e = *first.entry;
  rows_taken -= rows_of(first);
  e.has_forked = true;
  rows_taken += rows_of(first);
  for (size_t i = 1; i < outcomes.size(); ++i) {
    auto b = std::make_unique<Branch>();
    b->entry = &e;
    b->choice = static_cast<int32_t>(i);
    b->tokens = first.tokens;
    Result<kv::SequenceId> sequence = cache->fork(first.sequence);
    NEREID_CHECK(sequence.is_ok());  // its row was kept for it
    b->sequence = *sequence;
    start(*b);
    e.branches.push_back(std::move(b));
  }
}

}  // namespace nereid::schedule
