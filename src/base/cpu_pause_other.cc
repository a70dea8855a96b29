// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "base/cpu_pause.h"

namespace nereid {

void cpu_pause() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace nereid
