// SPDX-License-Identifier: Apache-2.0
#include "base/wait_word.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "base/clock.h"
#include "base/cpu_pause.h"

namespace nereid {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel waits on the bare word");

uint32_t WaitWord::wait_slowly(uint32_t old, Patience patience) {
  constexpr int kLooksPerClockRead = 32;
  uint32_t now = old;
  if (patience.spin_ns > 0) {
    const int64_t until = now_ns() + patience.spin_ns;
    do {
      for (int i = 0; i < kLooksPerClockRead; ++i) {
        if (now = load(); now != old) return now;
        cpu_pause();
      }
    } while (now_ns() < until);
  }
  for (int i = 0; i < patience.yields; ++i) {
    if (now = load(); now != old) return now;
    sched_yield();
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while ((now = value_.load(std::memory_order_seq_cst)) == old)
    syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return now;
}

void WaitWord::wake_sleepers() {
  syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace nereid
