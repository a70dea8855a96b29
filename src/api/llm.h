// SPDX-License-Identifier: Apache-2.0
// What a handle of a language model stands for: the model, its executor, and the requests that are open.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "llm/run/executor.h"
#include "llm/run/open_draft.h"
#include "llm/run/open_model.h"

namespace nereid::api {

// How many choices of which requests have not had their last output. Any thread.
class OpenRequests {
 public:
  void begin(uint64_t id, int32_t choices) { add(id, choices); }
  // May come before begin(): a request can end before enqueue has returned.
  void end_choice(uint64_t id) { add(id, -1); }
  // kUnavailable when the time is over; negative: as long as it takes.
  Status wait(uint64_t id, int64_t timeout_ms);

 private:
  void add(uint64_t id, int32_t choices);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<uint64_t, int32_t> open_;
};

struct Llm {
  llm::OpenedModel opened;
  llm::OpenedDraft draft;  // may hold none; steps on the model's pool
  OpenRequests requests;
  std::atomic<std::thread::id> telling{};   // the thread that is in an output function
  std::unique_ptr<llm::Executor> executor;  // goes first

  const llm::LanguageModel& model() const { return *opened.model; }
};

}  // namespace nereid::api

struct nereid_llm {
  std::unique_ptr<nereid::api::Llm> llm;
};
