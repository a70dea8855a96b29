// SPDX-License-Identifier: Apache-2.0
#include "base/wait_word.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/clock.h"
#include "base/cpu_pause.h"

namespace nereid {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel waits on the bare word");

uint32_t WaitWord::wait_slowly(uint32_t old, Patience& patience) {
  constexpr int kLooksPerClockRead = 32;
  constexpr int64_t kLeastSpinNs = 1000;
  uint32_t now = old;
  const int64_t start = now_ns();
  if (patience.spin_ns > 0) {
    int64_t time = start;
    for (const int64_t until = start + patience.spin_ns; time < until; time = now_ns())
      for (int i = 0; i < kLooksPerClockRead; ++i) {
        if (now = load(); now != old) return now;
        cpu_pause();
      }
  }
  for (int i = 0; i < patience.yields && now == old; ++i) {
    sched_yield();
    now = load();
  }
  if (now == old) now = sleep_while(old);
  const bool worth_looking = now_ns() - start <= patience.most_spin_ns;
  patience.spin_ns = worth_looking ? std::min(patience.most_spin_ns, std::max(patience.spin_ns, kLeastSpinNs) * 2)
                                   : std::min(patience.most_spin_ns, std::max(patience.spin_ns / 2, kLeastSpinNs));
  return now;
}

uint32_t WaitWord::sleep_while(uint32_t old) {
  uint32_t now = old;
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
