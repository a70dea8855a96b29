// SPDX-License-Identifier: Apache-2.0
// What the files of the scheduler share. Private to llm/schedule.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "llm/schedule/fair_share.h"
#include "llm/schedule/pace.h"
#include "llm/schedule/scheduler.h"

namespace nereid::schedule {

struct Entry;

// One answer of a request. Until the prompt is computed the first one stands for all.
struct Branch {
  Entry* entry = nullptr;
  int32_t choice = 0;
  bool is_running = false;
  bool is_planned = false;  // runs in the step at hand
  bool has_ended = false;
  kv::SequenceId sequence;
  int32_t answered = 0;         // also of what a shift has dropped
  int32_t drafts = 0;           // of the tokens, at the end
  std::vector<int32_t> tokens;  // prompt, answer, drafts
  int32_t known() const { return static_cast<int32_t>(tokens.size()) - drafts; }
};

struct Entry {
  NewRequest request;  // without its prompt, which the branches hold
  int64_t arrival_us = 0;
  uint64_t order = 0;
  int32_t user = 0;
  bool is_cancelled = false;
  bool has_forked = false;
  int32_t live = 0;     // branches that have not ended, or choices before the fork
  int32_t running = 0;  // branches
  int32_t reserved_pages = 0;
  RequestCounts counts;
  bool has_started = false;
  std::vector<std::unique_ptr<Branch>> branches;
};

// A branch that waits, with what its order hangs on beside each other: the queue is looked through in every step.
struct Waiting {
  Branch* branch = nullptr;
  int64_t arrival_us = 0, deadline_us = 0, level = 0, share = 0;
  uint64_t order = 0;
  int32_t priority = 0, user = 0, choice = 0;
};

// Who comes first of two that want prompts computed.
bool comes_first(const Waiting& a, const Waiting& b);

struct Scheduler::Impl {
  Impl(const SchedulerOptions& o, std::unique_ptr<kv::Cache> c) : options(o), cache(std::move(c)), pace(o.stretch) {}

  const SchedulerOptions options;
  std::unique_ptr<kv::Cache> cache;
  FairShare shares;
  Pace pace;
  std::unordered_map<uint64_t, std::unique_ptr<Entry>> entries;
  std::vector<Branch*> running;  // the most senior first
  std::vector<Waiting> waiting;  // in no order
  std::vector<uint64_t> cancelled;
  int64_t next_expiry_us = 0;  // no request expires before; 0: none does
  uint64_t next_order = 0;
  int32_t rows_taken = 0;  // by running branches, and by the choices that will be forked from them
  int32_t pages_reserved = 0;
  int32_t running_requests = 0;
  bool is_draining = false;
  bool is_in_step = false;
  Step step;
  SchedulerCounts totals;

  // Of the step at hand.
  int64_t now_us = 0;  // of plan()
  int32_t budget = 0;
  std::vector<Branch*> planned;     // beside step.runs
  std::vector<Waiting> candidates;  // scratch of prefill.cc

  int32_t rows() const { return cache->options().sequences; }
  int32_t waiting_requests() const { return static_cast<int32_t>(entries.size()) - running_requests; }
  // What it has to compute before an answer's next token comes.
  int32_t to_compute(const Branch& b) const { return goal(b) - cache->length(b.sequence); }
  int32_t goal(const Branch& b) const;
  bool is_decoding(const Branch& b) const {
    return b.answered > 0 && b.entry->has_forked && b.known() - cache->committed(b.sequence) == 1;
  }
  int32_t choices_of(const Branch& b) const { return b.entry->has_forked ? 1 : b.entry->request.choices; }
  // Of the page table; the first of several beams holds those of all.
  int32_t rows_of(const Branch& b) const {
    if (b.entry->request.beams) return b.choice == 0 ? b.entry->request.choices : 0;
    return choices_of(b);
  }
  Waiting place_of(Branch& b) const;

  void expire();                                                 // expire.cc
  void end_request(Entry& e, EndReason reason);                  // expire.cc
  void decode();                                                 // decode.cc
  bool decode_one(Branch& b, int32_t most_drafts);               // decode.cc
  void decode_beams(Entry& e);                                   // beams.cc
  bool may_pause(const Branch& b) const;                         // beams.cc
  void pause_beams(Entry& e);                                    // beams.cc
  void gather_beams(Entry& e);                                   // beams.cc
  void take_beams(Entry& e, std::span<const Outcome> outcomes);  // beams.cc
  void prefill();                                                // prefill.cc
  bool prefill_one(Branch& b, int32_t* left);                    // prefill.cc
  enum class Admission : uint8_t { kIn, kLater, kNoRoom };
  Admission admit(Branch& b);                                        // admit.cc
  bool fits(const Branch& b, const kv::Match& match);                // admit.cc
  int32_t shared_pages(const Entry& e) const;                        // admit.cc
  int32_t pages_to_the_end(const Entry& e, int32_t live) const;      // admit.cc
  bool another_computes_more(const Branch& b, int32_t found) const;  // admit.cc

  void wait(Branch& b);
  void run(Branch& b, int32_t tokens, bool is_prompt, int32_t outputs);
  void start(Branch& b);  // running from now on; its sequence is open
  void leave(Branch& b);  // running no more
  void stop(Branch& b);   // and gives its sequence back
  void pause(Branch& b);
  void end_branch(Branch& b);
  void end_entry(Entry& e);
  void take_runs(size_t first, size_t count, std::span<const Outcome> own);  // outcome.cc
  void take_outcome(Branch& b, const Outcome& outcome);
  void shift(Branch& b);
  void fork(Branch& first, std::span<const Outcome> outcomes);
};

}  // namespace nereid::schedule
