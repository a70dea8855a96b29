// SPDX-License-Identifier: Apache-2.0
// How many inferences that came over gRPC have not ended: what a server that stops waits for. gRPC's own shutdown also
// waits for idle streams and connections, which may never go.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace nereid::server::kserve {

class CallCount {
 public:
  // False: the server is stopping, and takes no more.
  bool begin() {
    const std::lock_guard lock(mutex_);
    if (!is_stopping_) ++count_;
    return !is_stopping_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  // False: some still run after so long.
  bool stop(int64_t timeout_ms) {
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    return none_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
  bool is_stopping_ = false;
};

}  // namespace nereid::server::kserve
