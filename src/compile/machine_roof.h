// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most: multiply-adds on registers, and bytes read from memory and from the caches. A
// layer can be no faster than the slower of the two allows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "ops/op.h"

namespace nereid::compile {

struct MachineRoof {
  double flops_per_second = 0;  // f32, a multiply-add counts as two
  // How fast a buffer of so many bytes is read; by size, the last one is larger than the caches.
  struct Reach {
    int64_t bytes = 0;
    double bytes_per_second = 0;
  };
  std::vector<Reach> memory;

  double compute_ms(const ops::Cost& cost) const;
  // At the speed of the smallest buffer that holds what the layer touches.
  double memory_ms(const ops::Cost& cost) const;
  double least_ms(const ops::Cost& cost) const;
};

// Takes about half a second. What cannot be measured (no memory) is left out.
MachineRoof measure_roof(ThreadPool& pool, Isa isa);

}  // namespace nereid::compile
