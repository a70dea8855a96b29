// SPDX-License-Identifier: Apache-2.0
// Runs of one context in the order they were asked for, on a thread of its own that starts with the first of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "api/bindings.h"
#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid::api {

// Any thread may call anything at any time, but for close(), which is the last call.
class RunQueue {
 public:
  // `run` does one run with these bindings, and ends early once the flag is set; on the queue's thread.
  using Run = std::function<Status(const Bindings&, const std::atomic<bool>& stop)>;
  RunQueue(size_t depth, Run run) : run_(std::move(run)), slots_(depth) {}
  ~RunQueue();

  // kExhausted: `depth` runs are waiting or running already.
  Result<uint64_t> push(const Bindings& bindings, nereid_context* context, nereid_done_fn done, void* user);
  // As nereid_context_wait and _poll say. From within a callback waiting is kInvalidArgument.
  Status wait(uint64_t id, int64_t timeout_ms);
  Status poll(uint64_t id);
  Status cancel(uint64_t id);
  // True while nothing waits or runs, callbacks included.
  bool is_idle() const;
  bool is_on_own_thread() const;
  // Cancels everything and waits for the thread's end.
  void close();

 private:
  struct Slot {
    Bindings bindings;
    nereid_context* context = nullptr;
    nereid_done_fn done = nullptr;
    void* user = nullptr;
    bool cancelled = false;
    Status result;
  };
  Slot& slot(uint64_t id) { return slots_[id % slots_.size()]; }
  bool has_ended(uint64_t id) const { return id < next_; }
  Status result_of(uint64_t id);
  Status start_thread();
  void work();

  const Run run_;
  std::vector<Slot> slots_;  // a run's is its number modulo their count
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 1;  // the run that is running, or will be next
  uint64_t free_ = 1;  // the number of the next that is pushed
  bool running_ = false, closing_ = false;
  std::atomic<bool> stop_ = false;
  std::atomic<std::thread::id> own_thread_;
  std::thread thread_;
};

}  // namespace nereid::api
