// SPDX-License-Identifier: Apache-2.0
// Many callers' texts on one encoder: a bounded queue and a thread of its own, which fills each step with texts of all
// who wait, in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/run/encoder.h"

namespace nereid::llm {

// What came of a job: a vector a text, in order, or the first thing that went wrong with one of them.
struct EncodeOutput {
  Status status;
  std::vector<std::vector<float>> vectors;
  std::vector<int64_t> tokens;  // of each text
};

// Called once, on the queue's thread; it should not take long.
using EncodeFn = std::function<void(EncodeOutput&&)>;

struct EncodeQueueOptions {
  int64_t max_texts = 16384;      // that wait or run; a job beyond that is refused, unless nothing else is there
  int64_t max_bytes = 256 << 20;  // of these texts together
};

// One number each, read at any time; totals only grow.
struct EncodeStats {
  int64_t jobs = 0, texts_waiting = 0;
  int64_t steps = 0, texts = 0, tokens = 0;
  int64_t jobs_done = 0, jobs_cancelled = 0, jobs_failed = 0, jobs_refused = 0;
};

// Thread-safe.
class EncodeQueue {
 public:
  // The encoder must outlive it; nothing else may run it.
  static std::unique_ptr<EncodeQueue> start(Encoder& encoder, const EncodeQueueOptions& options = {});
  virtual ~EncodeQueue() = default;  // cancels what is left and waits for the step at hand

  // kInvalidArgument: no texts; kExhausted: the queue is full; kUnavailable: stopping. Nothing is called back then. A
  // text that is wrong ends its job when its turn comes: kInvalidArgument, naming it by its number.
  virtual Result<uint64_t> submit(std::vector<EncodeInput> inputs, EncodeFn on_output) = 0;
  // Ends it within a step, with kCancelled. Nothing happens for one that has ended.
  virtual void cancel(uint64_t id) = 0;
  virtual EncodeStats stats() const = 0;
  // Refuses new jobs, lets those at hand end, at most so long; then cancels the rest.
  virtual void drain(int64_t timeout_us) = 0;
};

}  // namespace nereid::llm
