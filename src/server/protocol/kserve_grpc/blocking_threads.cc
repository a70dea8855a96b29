// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/blocking_threads.h"

#include <atomic>
#include <thread>
#include <utility>

#include "server/net/worker_pool.h"

namespace nereid::server::kserve {

struct BlockingThreads::One {
  explicit One(std::function<void()> work)
      : thread([this, task = std::move(work)] {
          net::block_signals();
          task();
          is_over = true;
        }) {}
  ~One() { thread.join(); }
  std::atomic<bool> is_over{false};
  std::thread thread;
};

BlockingThreads::BlockingThreads() = default;

BlockingThreads::~BlockingThreads() = default;

void BlockingThreads::run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  // Those that have ended leave their memory when they are joined.
  std::erase_if(all_, [](const std::unique_ptr<One>& one) { return one->is_over.load(); });
  all_.push_back(std::make_unique<One>(std::move(work)));
}

}  // namespace nereid::server::kserve
