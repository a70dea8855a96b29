// SPDX-License-Identifier: Apache-2.0
// Time as nanoseconds that only grow, and a clock to pass to code that must also run in a test's own time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace nereid {

// Nanoseconds since some moment before the process began; never goes back. About 20 ns a call; any thread.
inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// What asks for the time takes one of these, so that a test decides what time it is. Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now_ns() const = 0;
  // Returns when now_ns() >= deadline_ns.
  virtual void sleep_until(int64_t deadline_ns) = 0;
};

class SystemClock final : public Clock {
 public:
  int64_t now_ns() const override { return nereid::now_ns(); }
  void sleep_until(int64_t deadline_ns) override;
};

// Stands still until told; sleep_until() moves it instead of waiting.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(int64_t start_ns = 0) : now_ns_(start_ns) {}
  int64_t now_ns() const override { return now_ns_.load(std::memory_order_acquire); }
  void sleep_until(int64_t deadline_ns) override;
  void advance(int64_t ns) { now_ns_.fetch_add(ns, std::memory_order_acq_rel); }

 private:
  std::atomic<int64_t> now_ns_;
};

}  // namespace nereid
