// SPDX-License-Identifier: Apache-2.0
// How many requests somebody has taken that have not ended: what stopping waits for. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace nereid::server {

class RunningCount {
 public:
  // False: no more are taken.
  bool begin() {
    const std::lock_guard lock(mutex_);
    if (!is_stopping_) ++count_;
    return !is_stopping_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  // Takes no more, and waits for those there are.
  void drain() {
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    none_.wait(lock, [this] { return count_ == 0; });
  }
  // False: some still run after so long.
  bool drain_for(int64_t timeout_ms) {
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    return none_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] { return count_ == 0; });
  }
  bool takes() const {
    const std::lock_guard lock(mutex_);
    return !is_stopping_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable none_;
  int64_t count_ = 0;
  bool is_stopping_ = false;
};

}  // namespace nereid::server
