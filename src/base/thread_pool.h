// SPDX-License-Identifier: Apache-2.0
// A persistent team of threads for kernels: fork, meet at barriers, join; microseconds matter.
//
//   pool.run([&](Worker& w) {
//     const auto [begin, end] = w.slice(rows, 4);
//     normalise(begin, end);
//     w.barrier();          // all rows are done, and visible to all
//     multiply(begin, end);
//   });
//
// Waiting threads look for work for some tens of microseconds and then sleep in the kernel, so an idle pool costs
// nothing. With more threads than CPUs they give way to each other instead of looking. Numbers: thread_pool_bench.cc.
//
// Threads are pinned, one to a CPU, when the pool fills the affinity mask exactly. A smaller team is left to the
// system's scheduler, because two processes that each pin to "the first four CPUs" would share them. The calling thread
// is never pinned: its placement, which its children inherit, belongs to the program.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/function_ref.h"

namespace nereid {

struct ThreadPoolOptions {
  int threads = 0;  // with the calling one; 0 = usable CPUs (affinity and control-group quota, see cpu_limits.h)
  bool pin = true;
};

class Worker;

// One thread at a time calls run(), and not from within a body (checked). If the system refuses threads, the team is
// smaller.
class ThreadPool {
 public:
  explicit ThreadPool(ThreadPoolOptions options = {});
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  // Workers, with the calling thread; at least 1.
  int size() const { return size_; }

  // Calls `body` once on every worker, worker 0 being the calling thread; returns when all have returned.
  // What the caller wrote before is visible to the bodies, and what they wrote to the caller after. Bodies do not
  // throw.
  void run(FunctionRef<void(Worker&)> body);

 private:
  friend class Worker;
  struct Team;
  std::unique_ptr<Team> team_;  // nothing for a pool of one
  int size_ = 1;
};

// What a body knows about itself.
class Worker {
 public:
  int index() const { return index_; }  // 0 .. count() - 1
  int count() const { return count_; }

  // Returns when every worker of this run has called it as often; orders memory among them. Each must call it equally
  // often.
  void barrier() {
    if (count_ > 1) meet();
  }

  // This worker's part [first, second) of 0..n: the parts are in order, differ by at most one `align`, and begin at
  // multiples of it; the last ones may be empty. n >= 0, align >= 1.
  std::pair<int64_t, int64_t> slice(int64_t n, int64_t align = 1) const;

 private:
  friend class ThreadPool;
  Worker(int index, int count, ThreadPool::Team* team) : index_(index), count_(count), team_(team) {}
  void meet();

  int index_;
  int count_;
  ThreadPool::Team* team_;
};

}  // namespace nereid
