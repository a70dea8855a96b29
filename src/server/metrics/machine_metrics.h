// SPDX-License-Identifier: Apache-2.0
// The nv_cpu_*, nv_gpu_* and nv_pinned_memory_pool_* families: what the machine does, as dashboards made for Triton
// read it.
#pragma once

#include <cstdint>
#include <string>

#include "server/metrics/gpu_metrics.h"

namespace nereid::server::metrics {

// One thread at a time.
class MachineMeter {
 public:
  MachineMeter();
  // The share of the processors that was busy since the last call is what the text says until the next.
  void sample();
  // Prometheus' text format.
  std::string text(bool has_cpu) const;

 private:
  uint64_t busy_ = 0, all_ = 0;  // ticks since the machine began
  double utilization_ = 0;
  GpuMeter gpus_ = GpuMeter::of_this_machine();
};

}  // namespace nereid::server::metrics
