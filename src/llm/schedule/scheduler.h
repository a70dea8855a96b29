// SPDX-License-Identifier: Apache-2.0
// Which tokens of which requests are run in a step: iteration-level batching over a paged cache, as a pure machine.
//
// One round: plan(now) says what to do; the executor does it and tells done(now, outcomes). Between rounds come add(),
// cancel() and drain(). Nothing here knows a thread, a clock or a device. What an answer says does not depend on what
// is decided here, only when it comes; so the scheduler is free.
//
// The order of a step's decisions (each in a file of its own):
//   expire      what was cancelled or is too late ends and gives its pages back
//   decode      every running answer gets its next token, the most senior first; where pages lack, the least senior
//               pauses (max_utilization) -- none ever has to under guaranteed_no_evict
//   admit       requests that wait get in while rows, pages and budget last: by level (priority and waiting), then the
//               user who had least, then deadline, then arrival; one whose prefix another is computing waits for it
//   prefill     what is left of the budget goes to prompts in the same order, capped while anybody decodes
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"
#include "llm/kv/cache.h"
#include "llm/schedule/request.h"
#include "llm/schedule/step.h"

namespace nereid::schedule {

enum class Policy : uint8_t {
  kMaxUtilization,     // admits what fits now; pauses the youngest when pages run out
  kGuaranteedNoEvict,  // admits what surely fits to its end
};

struct SchedulerOptions {
  int32_t step_tokens = 512;  // of one step, all sequences together
                              // While an answer is running, prompts get a part of a step: at most so many tokens ...
  int32_t prompt_tokens_beside = 128;
  // ... and no more than what keeps it within so many times a step without them, by what steps have taken so far; but
  // always a page, and more, the longer other prompts wait behind the one at hand. 1 or less: whatever it takes.
  double stretch = 2.2;
  int32_t max_queue = 1024;  // requests that wait; one more is refused
  Policy policy = Policy::kMaxUtilization;
  int64_t level_us = 1'000'000;  // of waiting that lift a request one level of priority
  bool wait_for_prefix = true;
};

struct SchedulerCounts {
  int32_t waiting = 0, running = 0;  // requests; one that is paused waits
  int64_t steps = 0, prompt_tokens = 0, reused_tokens = 0, answer_tokens = 0;
  int64_t done = 0, cancelled = 0, timed_out = 0, refused = 0, pauses = 0, shifts = 0;
};

// Where a request stands, for a protocol's last message.
struct RequestCounts {
  int32_t prompt_tokens = 0;
  int32_t reused_tokens = 0;  // of the prompt, found in the cache when it first started
  int32_t pauses = 0;
};

class Scheduler {
 public:
  // The cache's rows are the most sequences that run at one time. kInvalidArgument names the option.
  static Result<std::unique_ptr<Scheduler>> make(const SchedulerOptions& options, const kv::CacheOptions& cache);
  ~Scheduler();

  // kInvalidArgument: an empty prompt, no token to answer with, an id that is in use, or what could never fit into the
  // cache; kExhausted: the queue is full; kUnavailable: draining.
  Status add(NewRequest request, int64_t now_us);
  // Ends it by the next plan(), where all its choices are listed. Nothing for an id that has ended.
  void cancel(RequestId id);
  void cancel_all();
  // Refuses new requests from now on; those at hand go on.
  void drain();

  // The next step; empty runs: nothing to do until the next add(), or until time passes. done() must come before the
  // next plan() unless runs is empty. The step is valid until then.
  const Step& plan(int64_t now_us);
  // One outcome for each output of the step, in order.
  void done(int64_t now_us, std::span<const Outcome> outcomes);
  // The step could not be run, though its pages have been moved: its tokens are as if they had not been planned. What
  // has ended has ended.
  void undo();

  bool has_work() const;  // some request has not ended
  // The longest prompt and answer together that could ever run, by the cache alone.
  int64_t longest_sequence() const;
  // kNotFound: unknown or ended.
  Result<RequestCounts> request(RequestId id) const;
  SchedulerCounts counts() const;
  const kv::Cache& cache() const;
  kv::Cache& cache();

 private:
  Scheduler();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nereid::schedule
