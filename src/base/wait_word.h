// SPDX-License-Identifier: Apache-2.0
// A 32-bit word that threads wait on: they look for a while (a hand-over costs ~0.1 us), then sleep in the kernel.
//
// A waker stores first and looks for sleepers second; a waiter announces itself first and looks at the word second
// (in the kernel, atomically with falling asleep). Both orders are sequentially consistent, so no wake-up is lost.
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid {

// How a thread waits: it looks for `spin_ns`, gives its CPU away `yields` times, then sleeps.
// The looking adapts: waits that end within `most_spin_ns` lengthen it, longer ones shorten it, because then the thread
// that is waited for is off its CPU or has much to do, and a CPU that looks is missing elsewhere. One object a thread.
struct alignas(64) Patience {
  int64_t most_spin_ns = 0;  // 0: never look; for threads that share CPUs
  int yields = 0;
  int64_t spin_ns = most_spin_ns;
};

class alignas(64) WaitWord {
 public:
  uint32_t load() const { return value_.load(std::memory_order_acquire); }
  // These publish everything the thread wrote before; the second also wakes those who sleep on the word.
  uint32_t subtract(uint32_t n) { return value_.fetch_sub(n, std::memory_order_seq_cst) - n; }
  void store(uint32_t value) { value_.store(value, std::memory_order_relaxed); }
  void store_and_wake(uint32_t value) {
    value_.store(value, std::memory_order_seq_cst);
    wake();
  }
  // For a word whose last change was a subtract() that some may have been waiting for.
  void wake() {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_sleepers();
  }

  // Returns a value other than `old`, and sees what its writer wrote before.
  uint32_t wait_while(uint32_t old, Patience& patience) {
    const uint32_t now = load();
    return now != old ? now : wait_slowly(old, patience);
  }

 private:
  uint32_t wait_slowly(uint32_t old, Patience& patience);
  uint32_t sleep_while(uint32_t old);
  void wake_sleepers();

  std::atomic<uint32_t> value_{0};
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace nereid
