// SPDX-License-Identifier: Apache-2.0
// What the scheduler did, as a file for a trace viewer (the "Trace Event Format" that chrome://tracing and Perfetto
// read): a row of steps, a row for each request (waits, prompt, answer, pauses), and counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "llm/schedule/scheduler.h"

namespace nereid::schedule {

// One thread at a time. Times in microseconds, on any clock that only grows.
class TraceWriter {
 public:
  explicit TraceWriter(size_t most_events = 1 << 20) : most_events_(most_events) {}

  void added(RequestId id, int64_t now_us);
  // A step that was planned at `from_us` and told done() at `to_us`; to be called between that and the next plan().
  // A plan without runs is recorded, too, when something has ended in it.
  void stepped(const Step& step, const Scheduler& scheduler, int64_t from_us, int64_t to_us);
  // The whole file: one JSON object. Requests that have not ended go on to the last moment recorded.
  std::string json() const;

  size_t events() const { return events_.size(); }
  size_t left_out() const { return left_out_; }  // events beyond the most

 private:
  enum class Phase : uint8_t { kQueued, kPrompt, kAnswer, kPaused };
  struct Event {
    enum class Kind : uint8_t { kStep, kPhase, kCounts } kind;
    Phase phase = Phase::kQueued;
    uint64_t request = 0;
    int64_t from_us = 0, to_us = 0;
    int32_t values[6] = {};  // of a step: tokens, prompt tokens, runs; of counts: see trace.cc
  };
  struct Open {
    Phase phase = Phase::kQueued;
    int64_t since_us = 0;
  };
  static const char* name(Phase phase);
  void put(const Event& event);
  void turn(RequestId id, Phase phase, int64_t now_us);
  void end(RequestId id, int64_t now_us);

  size_t most_events_, left_out_ = 0;
  std::vector<Event> events_;
  std::unordered_map<uint64_t, Open> open_;
  int64_t last_us_ = 0;
};

}  // namespace nereid::schedule
