// SPDX-License-Identifier: Apache-2.0
// What a timing holds for: the processor, the instruction set in use, the number of threads, the kernels' version.
#pragma once

#include <string>

#include "base/cpu_info.h"

namespace nereid::tune {

struct DeviceKey {
  // "Intel(R) Xeon(R) Platinum 8481C; L2 2048 KiB, L3 107520 KiB; avx512 vnni bf16; kernels 1". Virtual machines often
  // hide the model behind a family's name: the caches tell them apart.
  std::string machine;
  int threads = 1;
  std::string text() const;  // with the threads
};

DeviceKey device_key(const CpuInfo& cpu, Isa isa, int threads);

}  // namespace nereid::tune
