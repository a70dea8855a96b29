// SPDX-License-Identifier: Apache-2.0
// prefill: what is left of the budget goes to prompts, those at hand and those
// that wait in one order. While an answer is running beside them they get a
// capped part, so that a long prompt does not stretch the time between its
// tokens.
#include <algorithm>

#include "llm/schedule/scheduler_impl.h"

namespace nereid::schedule {
namespace {

// Of a prompt beside answers. Late in a long prompt a token's attention costs more than all its products: 32 tokens at
// position 3,600 were seen to take 90 ms where an answer's token takes 10.
constexpr int32_t kLeastPart = 4;

}  // namespace
namespace {

// Users who differ by less have had the same: without it, prompts of many users
// would all be computed side by side, a chunk of each in turn, and all of them
// would end late.
constexpr int64_t kShareTokens = 1024;
// More than these are not looked at in one step when all wait for others'
// prefixes.
constexpr int kMostLater = 64;

}  // namespace

bool comes_first(const Waiting& a, const Waiting& b) {
  if (a.level != b.level) return a.level > b.level;
  if (a.share != b.share) return a.share < b.share;
  if (a.deadline_us != b.deadline_us) return a.deadline_us < b.deadline_us;
  return a.order != b.order ? a.order < b.order : a.choice < b.choice;
}

// A part of its prompt, as large as budget and pages allow; false: none at all.
bool Scheduler::Impl::prefill_one(Branch& b, int32_t* left) {
  const int32_t from = cache->length(b.sequence);
  int32_t tokens = std::min({*left, budget, to_compute(b)});
  const int32_t page = cache->options().page_tokens;
  const auto fits_now = [&] { return cache->pages_for(b.sequence, tokens) <= cache->available(); };
  while (!fits_now()) {
    // As many whole pages as there are; where there is none at all, the least
    // senior pauses.
    while (tokens > 0 && !fits_now()) tokens = std::max(0, (from + tokens - 1) / page * page - from);
    if (tokens > 0) break;
    if (!may_pause(*running.back()) || running.size() == 1) return false;
    pause(*running.back());
    if (!b.is_running) return false;
    tokens = std::min({*left, budget, to_compute(b)});
  }
  const std::span<const int32_t> all = b.tokens;
  if (!cache->append(b.sequence, all.subspan(static_cast<size_t>(from), static_cast<size_t>(tokens))).is_ok())
    return false;
  *left -= tokens;
  run(b, tokens, true, from + tokens == static_cast<int32_t>(b.tokens.size()) ? choices_of(b) : 0);
  return true;
}

void Scheduler::Impl::prefill() {
  if (budget <= 0) return;
  candidates.clear();
  const auto add = [&](Waiting w) {
    w.level = w.priority + (now_us - w.arrival_us) / options.level_us;
    w.share = shares.served(w.user) / kShareTokens;
    candidates.push_back(w);
  };
  for (Branch* b : running)
    if (!b->is_planned && to_compute(*b) > 0) add(place_of(*b));
  if (rows_taken < rows() && step.paused.empty())
    for (const Waiting& w : waiting) add(w);
  const auto last = [](const Waiting& a, const Waiting& b) { return comes_first(b, a); };
  std::make_heap(candidates.begin(), candidates.end(), last);
  int32_t left = budget;
  if (const auto answers = static_cast<int32_t>(step.runs.size()); answers > 0 && !candidates.empty()) {
    int64_t behind_us = 0;
    for (const Waiting& w : std::span(candidates).subspan(1)) behind_us = std::max(behind_us, now_us - w.arrival_us);
    left = std::min(left, pace.prompt_tokens(answers, behind_us, kLeastPart, options.prompt_tokens_beside));
  }
  bool has_room = true;
  int later = 0;
  while (left > 0 && !candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), last);
    Branch& b = *candidates.back().branch;
    candidates.pop_back();
    if (!b.is_running) {
      if (!has_room || !step.paused.empty()) continue;
      // One that finds no room keeps those behind it out as well: they would
      // take what it waits for.
      const Admission a = admit(b);
      if (a == Admission::kNoRoom || (a == Admission::kLater && ++later >= kMostLater)) has_room = false;
      if (a != Admission::kIn) continue;
    }
    prefill_one(b, &left);
  }
}

}  // namespace nereid::schedule
