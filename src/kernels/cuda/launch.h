// SPDX-License-Identifier: Apache-2.0
// What every GPU kernel's header shares: where a kernel is queued, and what the elements of its tensors are.
//
// These headers are plain C++20 and need no CUDA header. Pointers are device memory unless a comment says otherwise and
// are aligned to 16 bytes; strides are in elements and multiples of 8. A launch function queues its kernels and
// returns: it allocates nothing, waits for nothing, can be captured into a graph and has no error path (the caller has
// checked sizes; what the driver thinks of a launch shows when the stream is next asked).
#pragma once

#include <cstdint>

namespace nereid::kernels::cuda {

// With `overlap` the kernel may start while the kernel before it in the stream ends (programmatic dependent launch,
// sm_90): it fetches weights early and touches nothing else before the other kernel's results are there. Allowed
// between any two kernels of this folder; ignored on older devices. The kernel in front may be any other, too.
struct Queue {
  void* stream = nullptr;  // a cudaStream_t or CUstream
  bool overlap = false;
};

enum class Element : uint8_t { kF32, kF16, kBF16, kF8E4M3 };

constexpr int64_t element_bytes(Element element) {
  return element == Element::kF32 ? 4 : element == Element::kF8E4M3 ? 1 : 2;
}

enum class Activation : uint8_t { kNone, kSilu, kGelu, kGeluTanh, kRelu };

// Asks the current device once and keeps the answer a device: multiprocessors, and 90 for compute capability 9.0.
struct DeviceTraits {
  int multiprocessors = 0;
  int capability = 0;
};
DeviceTraits device_traits();

}  // namespace nereid::kernels::cuda
