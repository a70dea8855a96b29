// SPDX-License-Identifier: Apache-2.0
#include "api/run_queue.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>

#include "api/answer.h"

namespace nereid::api {

RunQueue::~RunQueue() {
  close();
}

// Signals go to the program's own threads.
Status RunQueue::start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status started;
  try {
    thread_ = std::thread([this] { work(); });
    pthread_setname_np(thread_.native_handle(), "nereid-queue");
  } catch (const std::system_error& e) {
    started = exhausted("the system gives no thread for asynchronous runs: {}", e.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

Result<uint64_t> RunQueue::push(const Bindings& bindings, nereid_context* context, nereid_done_fn done, void* user) {
  const std::lock_guard lock(mutex_);
  if (closing_) return cancelled("the context is being closed");
  if (free_ - next_ >= slots_.size())
    return exhausted("{} runs are in the queue already, which is all it takes; wait for one", slots_.size());
  if (!thread_.joinable()) NEREID_RETURN_IF_ERROR(start_thread());
  Slot& mine = slot(free_);
  mine.bindings = bindings;
  mine.context = context;
  mine.done = done;
  mine.user = user;
  mine.cancelled = false;
  mine.result = Status::ok();
  changed_.notify_all();
  return free_++;
}

void RunQueue::work() {
  own_thread_.store(std::this_thread::get_id());
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || next_ < free_; });
    if (next_ == free_) return;
    const uint64_t id = next_;
    Slot& mine = slot(id);
    running_ = true;
    const bool cancelled_before = mine.cancelled || closing_;
    stop_.store(false, std::memory_order_relaxed);
    lock.unlock();
    Status result = cancelled_before ? cancelled("the run was cancelled before it began") : run_(mine.bindings, stop_);
    if (mine.done != nullptr) mine.done(mine.user, mine.context, id, code_of(result), result.message().c_str());
    lock.lock();
    mine.result = std::move(result);
    running_ = false;
    ++next_;
    changed_.notify_all();
  }
}

Status RunQueue::result_of(uint64_t id) {
  if (id >= free_) return not_found("there is no run {}: the last one has the number {}", id, free_ - 1);
  // The slot was given to another run since.
  if (id + slots_.size() < free_)
    return not_found("how run {} ended is no longer known: it is kept for the last {}", id, slots_.size());
  return slot(id).result;
}

Status RunQueue::wait(uint64_t id, int64_t timeout_ms) {
  if (is_on_own_thread())
    return invalid_argument("a callback cannot wait for runs of its context: they begin when it has returned");
  std::unique_lock lock(mutex_);
  if (id >= free_) return result_of(id);
  const auto over = [&] { return id == 0 ? next_ == free_ : has_ended(id); };
  if (timeout_ms < 0) {
    changed_.wait(lock, over);
  } else if (!changed_.wait_for(lock, std::chrono::milliseconds(std::min<int64_t>(timeout_ms, 1LL << 40)), over)) {
    return id == 0 ? unavailable("the queue is not empty after {} ms", timeout_ms)
                   : unavailable("run {} has not ended after {} ms", id, timeout_ms);
  }
  return id == 0 ? Status::ok() : result_of(id);
}

Status RunQueue::poll(uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (id == 0 ? next_ == free_ : has_ended(id)) return id == 0 ? Status::ok() : result_of(id);
  if (id >= free_) return result_of(id);
  return unavailable("run {} has not ended yet", id);
}

Status RunQueue::cancel(uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (id < next_ || id >= free_) return not_found("there is no run {} that waits or runs", id);
  slot(id).cancelled = true;
  if (id == next_ && running_) stop_.store(true, std::memory_order_relaxed);
  return Status::ok();
}

bool RunQueue::is_idle() const {
  const std::lock_guard lock(mutex_);
  return next_ == free_;
}

bool RunQueue::is_on_own_thread() const {
  return own_thread_.load() == std::this_thread::get_id();
}

void RunQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (running_) stop_.store(true, std::memory_order_relaxed);
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace nereid::api
