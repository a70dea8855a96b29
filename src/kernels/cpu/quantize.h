// SPDX-License-Identifier: Apache-2.0
// Quantising to u8 by what the numbers themselves span: y = round(x / scale) + zero.
//
//   scale = (max(x, 0) - min(x, 0)) / 255, 1 if that is 0        zero = round(min(255, max(0, -min(x, 0) / scale)))
//
// As ONNX DynamicQuantizeLinear has it, divisions and all: equal bits on every instruction set and number of threads.
// Cost: x is read twice, n bytes are written. Bound: memory, or the divider.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"

namespace nereid::kernels {

struct DynamicQuantizeParams {
  const float* x = nullptr;
  int64_t n = 0;
  uint8_t* y = nullptr;
  float* scale = nullptr;
  uint8_t* zero = nullptr;
  std::byte* scratch = nullptr;  // 128 bytes a worker, 64-byte aligned
};

}  // namespace nereid::kernels
