// SPDX-License-Identifier: Apache-2.0
// What CUDA's error codes mean for who runs Nereid: a status and what to do, from one table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "device/cuda/plugin_table.h"

namespace nereid::device {

struct CudaFault {
  Status status;
  bool is_lost = false;  // the GPU answers nothing more in this process
};

// The codes by cudart's numbering that are told apart.
inline constexpr int kCudaOutOfMemory = 2, kCudaOldDriver = 35, kCudaNoGpu = 100, kCudaNoCode = 209;

// `doing`: "copying 12 bytes", for the sentence.
CudaFault explain_cuda(const NereidCudaTable& table, int code, std::string_view doing);

}  // namespace nereid::device
