// SPDX-License-Identifier: Apache-2.0
#include "server/net/worker_pool.h"

#include <signal.h>

#include <exception>
#include <utility>

#include "base/log.h"

namespace nereid::server::net {

void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    dropped.swap(tasks_);
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return;
    tasks_.push_back(std::move(task));
  }
  ready_.notify_one();
}

void WorkerPool::work() {
  block_signals();
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return is_ending_ || !tasks_.empty(); });
      if (is_ending_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    // The rim: a request that wants more memory than there is fails alone; its responder answers 500 when it goes.
    try {
      task();
    } catch (const std::exception& e) {
      log_error("a request failed: {}", e.what());
    }
  }
}

}  // namespace nereid::server::net
