// SPDX-License-Identifier: Apache-2.0
// What a handle of a context stands for: the state of a network's runs, the bindings of the next one, a queue.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/bindings.h"
#include "api/engine.h"
#include "api/run_queue.h"

namespace nereid::api {

class Context {
 public:
  static Result<std::unique_ptr<Context>> create(const nereid_engine* engine, const nereid_context_options* options);
  ~Context() { queue_.close(); }

  Status set_input(size_t index, const nereid_tensor* tensor);
  Status bind_output(size_t index, void* memory, size_t capacity);
  Status run();
  Result<uint64_t> run_async(nereid_context* handle, nereid_done_fn done, void* user);
  Status output(size_t index, nereid_tensor* tensor);
  Status set_profiling(bool on);
  Status profile(nereid_layer_fn layer, void* user);
  Status notes(nereid_text_fn note, void* user);
  Status memory(int64_t* bytes);
  int threads() const { return pool().size(); }
  RunQueue& queue() { return queue_; }

 private:
  // What one thread at a time may use: the bindings, or the state of runs. Whoever finds it taken is told; only the
  // queue's own thread, in a callback, waits for the moment that another call takes.
  class Turn {
   public:
    Turn(std::atomic<bool>& taken, bool waits);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (mine_) taken_.store(false, std::memory_order_release);
    }
    Status status() const;

   private:
    std::atomic<bool>& taken_;
    bool mine_;
  };
  Turn take(std::atomic<bool>& taken) const { return Turn(taken, queue_.is_on_own_thread()); }

  Context(std::shared_ptr<const Engine> engine, int threads, size_t depth);
  ThreadPool& pool() const { return own_pool_ ? *own_pool_ : engine_->team->pool; }
  Status run_with(const Bindings& bindings, const std::atomic<bool>* stop);
  // ok where this thread may look at what the last run left: nothing is in the queue, or it is one of its callbacks.
  Status check_settled() const;
  Status text_output(const void* data, int64_t elements, nereid_tensor* tensor, size_t index);

  const std::shared_ptr<const Engine> engine_;
  std::unique_ptr<ThreadPool> own_pool_;  // null: the engine's team
  std::unique_ptr<runtime::NetContext> net_;
  Bindings bindings_;
  std::atomic<bool> bindings_taken_ = false, state_taken_ = false;
  std::atomic<bool> has_run_ = false;
  struct Output {
    std::vector<int64_t> dims;
    std::vector<nereid_string> texts;
  };
  std::vector<Output> outputs_;  // what nereid_tensors point to
  RunQueue queue_;               // the last member: its thread uses the others
};

}  // namespace nereid::api

struct nereid_context {
  std::unique_ptr<nereid::api::Context> context;
};
