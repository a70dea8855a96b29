// SPDX-License-Identifier: Apache-2.0
// A few threads that run tasks in the order in which they come.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::server::net {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  // Waits for tasks at work; those that have not begun are dropped.
  ~WorkerPool();
  void run(std::function<void()> task);

 private:
  void work();
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

// Signals are for the thread that waits for them (main's): blocks all of them in the calling thread, SIGPIPE of a
// client that has gone included.
void block_signals();

}  // namespace nereid::server::net
