// SPDX-License-Identifier: Apache-2.0
// What the current device is, asked once a device.
#include <cuda_runtime.h>

#include <array>
#include <atomic>

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

DeviceTraits device_traits() {
  constexpr int kDevices = 64;
  static std::array<std::atomic<int64_t>, kDevices> known = {};  // capability << 32 | multiprocessors; 0: not asked yet
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= kDevices) return {};
  int64_t traits = known[device].load(std::memory_order_relaxed);
  if (traits == 0) {
    int multiprocessors = 0, major = 0, minor = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    traits = (static_cast<int64_t>(10 * major + minor) << 32) | multiprocessors;
    known[device].store(traits, std::memory_order_relaxed);
  }
  return {.multiprocessors = static_cast<int>(traits & 0xffffffff), .capability = static_cast<int>(traits >> 32)};
}

}  // namespace nereid::kernels::cuda
