// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <thread>

namespace nereid {

void SystemClock::sleep_until(int64_t deadline_ns) {
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns)));
}

void VirtualClock::sleep_until(int64_t deadline_ns) {
  int64_t now = now_ns();
  while (now < deadline_ns && !now_ns_.compare_exchange_weak(now, deadline_ns, std::memory_order_acq_rel)) {
  }
}

}  // namespace nereid
