// SPDX-License-Identifier: Apache-2.0
// The nv_gpu_* families: what NVIDIA's GPUs do, by the driver's own library (NVML), which is looked for at run time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::server::metrics {

// NVML's functions that are used, with its types spelled out (nvml.h of the driver); each returns 0 where it worked.
struct NvmlUtilization {
  unsigned gpu = 0, memory = 0;  // percent
};
struct NvmlMemory {
  unsigned long long total = 0, free = 0, used = 0;  // bytes
};
struct NvmlTable {
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned index, void** gpu) = nullptr;
  int (*uuid)(void* gpu, char* text, unsigned bytes) = nullptr;
  int (*utilization)(void* gpu, NvmlUtilization*) = nullptr;
  int (*memory)(void* gpu, NvmlMemory*) = nullptr;
  int (*power_usage)(void* gpu, unsigned* milliwatts) = nullptr;
  int (*power_limit)(void* gpu, unsigned* milliwatts) = nullptr;
  int (*energy)(void* gpu, unsigned long long* millijoules) = nullptr;
};

// kUnavailable: there is no such library, or it lacks a function. Never unloaded.
Result<NvmlTable> load_nvml();

// One thread at a time. What a GPU does not tell has no line.
class GpuMeter {
 public:
  // Of all GPUs that the table shows; none where its init fails.
  explicit GpuMeter(const NvmlTable& table);
  // With the driver's library, or of no GPU where there is none.
  static GpuMeter of_this_machine();

  bool has_gpus() const { return !gpus_.empty(); }
  // Prometheus' text format; empty without GPUs.
  std::string text() const;

 private:
  struct Gpu {
    void* handle = nullptr;
    std::string uuid;
    unsigned long long energy_mj = 0;  // when this began
  };
  NvmlTable table_;
  std::vector<Gpu> gpus_;
};

}  // namespace nereid::server::metrics
