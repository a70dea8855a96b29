// SPDX-License-Identifier: Apache-2.0
// The executor's thread and its mailbox: what callers ask is put there, and taken between two steps.
#include "llm/run/executor.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "llm/run/step_loop.h"

namespace nereid::llm {
namespace {

// What waits for nothing but time (a timeout of a request that cannot run) is looked at so often.
constexpr std::chrono::milliseconds kIdleLook{1};

class ThreadExecutor final : public Executor {
 public:
  ThreadExecutor(LanguageModel& model, const ExecutorOptions& options, std::unique_ptr<StepLoop> loop)
      : model_(model),
        options_(options),
        adapters_(options.max_adapters),
        loop_(std::move(loop)),
        longest_sequence_(loop_->longest_sequence()) {
    stats_ = loop_->stats();
    thread_ = std::thread([this] { work(); });
    (void)pthread_setname_np(thread_.native_handle(), "nereid-steps");
  }

  ~ThreadExecutor() override {
    NEREID_CHECK(drain(0).is_ok());  // an output function would be ending the thread that it runs on
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    mail_.notify_one();
    thread_.join();
    if (const Status written = loop_->write_trace(); !written.is_ok())
      log_warn("the trace of the scheduler is lost: {}", written.message());
  }

  Result<RequestId> enqueue(Request request, OutputFn on_output) override {
    const int64_t enqueued_us = now_ns() / 1000;
    {
      const std::lock_guard lock(mutex_);
      NEREID_RETURN_IF_ERROR(check_room());
    }
    const int64_t timeout_us = request.timeout_us;
    if (request.shift_keep == -1) request.shift_keep = options_.shift_keep;
    NEREID_TRY(std::unique_ptr<ActiveRequest> made,
               ActiveRequest::make(model_, adapters_, longest_sequence_, std::move(request), std::move(on_output)));
    if (timeout_us > 0) made->expires_us = enqueued_us + std::min(timeout_us, INT64_MAX - enqueued_us);
    RequestId id;
    {
      const std::lock_guard lock(mutex_);
      NEREID_RETURN_IF_ERROR(check_room());
      id = made->id = {++last_id_};
      new_requests_.push_back(std::move(made));
      ++outstanding_;
    }
    mail_.notify_one();
    return id;
  }

  void cancel(RequestId id) override {
    {
      const std::lock_guard lock(mutex_);
      cancels_.push_back(id);
    }
    mail_.notify_one();
  }

  ExecutorStats stats() const override {
    const std::lock_guard lock(mutex_);
    ExecutorStats stats = stats_;
    stats.requests_waiting += static_cast<int64_t>(new_requests_.size());
    stats.requests_refused = refused_;
    return stats;
  }

  Status load_adapter(const std::string& name, std::vector<AdapterSource> sources) override {
    return adapters_.load(model_, name, std::move(sources)).status();
  }

  Status unload_adapter(std::string_view name) override {
    NEREID_TRY(AdapterPtr adapter, adapters_.unload(name));
    {
      const std::lock_guard lock(mutex_);
      retired_.push_back(std::move(adapter));
    }
    mail_.notify_one();
    return Status::ok();
  }

  std::vector<AdapterPtr> adapters() const override { return adapters_.list(); }

  std::vector<IterationStats> take_iterations() override {
    const std::lock_guard lock(mutex_);
    std::vector<IterationStats> taken(iterations_.begin(), iterations_.end());
    iterations_.clear();
    return taken;
  }

  Status drain(int64_t timeout_us) override {
    if (std::this_thread::get_id() == thread_.get_id())
      return invalid_argument("an output function may not drain its executor: it would wait for itself");
    std::unique_lock lock(mutex_);
    is_draining_ = true;
    const auto all_ended = [this] { return outstanding_ == 0; };
    if (timeout_us > 0 && idle_.wait_for(lock, std::chrono::microseconds(timeout_us), all_ended)) return Status::ok();
    if (all_ended()) return Status::ok();
    cancels_all_ = true;
    mail_.notify_one();
    idle_.wait(lock, all_ended);
    return Status::ok();
  }

 private:
  // With the mutex held.
  Status check_room() {
    if (is_draining_) return unavailable("the model takes no more requests: it is being stopped");
    if (outstanding_ < options_.max_queue + options_.max_sequences) return Status::ok();
    ++refused_;
    return exhausted("{} requests are waiting or running already, as many as are taken; try again later", outstanding_);
  }

  bool has_mail() const {
    return !new_requests_.empty() || !cancels_.empty() || !retired_.empty() || cancels_all_ || is_ending_;
  }

  // Takes what has come; waits for it where there is nothing to do. False: the end.
  bool take_mail(bool has_run) {
    std::vector<std::unique_ptr<ActiveRequest>> requests;
    std::vector<RequestId> cancels;
    std::vector<AdapterPtr> retired;
    bool cancels_all = false;
    {
      std::unique_lock lock(mutex_);
      if (!has_run) {
        if (loop_->has_work())
          mail_.wait_for(lock, kIdleLook, [this] { return has_mail(); });
        else
          mail_.wait(lock, [this] { return has_mail(); });
      }
      if (is_ending_) return false;
      requests.swap(new_requests_);
      cancels.swap(cancels_);
      retired.swap(retired_);
      cancels_all = std::exchange(cancels_all_, false);
    }
    for (std::unique_ptr<ActiveRequest>& request : requests) loop_->add(std::move(request));
    for (RequestId id : cancels) loop_->cancel(id);
    if (cancels_all) loop_->cancel_all();
    for (AdapterPtr& adapter : retired) loop_->retire(std::move(adapter));
    return true;
  }

  void deliver() {
    const int64_t ended = loop_->deliver();
    if (ended == 0) return;
    const std::lock_guard lock(mutex_);
    outstanding_ -= ended;
    if (outstanding_ == 0) idle_.notify_all();
  }

  void work() {
    // A device's steps tell what the step before gave, the last one aside.
    const bool tells_meanwhile = loop_->set_meanwhile([this] { deliver(); });
    bool has_run = false;
    while (take_mail(has_run)) {
      has_run = loop_->step();
      {
        const std::lock_guard lock(mutex_);
        stats_ = loop_->stats();
        if (has_run) {
          if (std::ssize(iterations_) == kIterationsKept) iterations_.pop_front();
          iterations_.push_back(loop_->iteration());
        }
      }
      if (has_run && options_.on_iteration) options_.on_iteration(loop_->iteration());
      if (!tells_meanwhile || !has_run) deliver();
    }
  }

  LanguageModel& model_;
  const ExecutorOptions options_;
  AdapterSet adapters_;
  std::unique_ptr<StepLoop> loop_;  // the thread's own
  const int64_t longest_sequence_;

  mutable std::mutex mutex_;  // of all that follows but the thread
  std::condition_variable mail_, idle_;
  std::vector<std::unique_ptr<ActiveRequest>> new_requests_;
  std::vector<RequestId> cancels_;
  std::vector<AdapterPtr> retired_;
  bool cancels_all_ = false, is_draining_ = false, is_ending_ = false;
  uint64_t last_id_ = 0;
  int64_t outstanding_ = 0;  // taken, and not ended
  int64_t refused_ = 0;
  std::deque<IterationStats> iterations_;
  ExecutorStats stats_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Executor>> Executor::start(LanguageModel& model, const ExecutorOptions& options) {
  NEREID_TRY(std::unique_ptr<StepLoop> loop, StepLoop::make(model, options));
  return std::unique_ptr<Executor>(std::make_unique<ThreadExecutor>(model, options, std::move(loop)));
}

}  // namespace nereid::llm
