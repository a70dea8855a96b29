// SPDX-License-Identifier: Apache-2.0
// What conv.cc chooses from, and the window arithmetic that convolutions and pooling share.
#pragma once

#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_plan.h"

namespace nereid::kernels::NEREID_ISA {

void conv_depthwise(const ConvParams& p, Worker& worker);
void conv_winograd(const ConvParams& p, Worker& worker);

// Taps [begin, end) of a window that starts at `start` and lie in [0, size); none: begin = end = 0.
struct Taps {
  int64_t begin, end;
};
inline Taps taps_inside(int64_t start, int64_t dilation, int64_t kernel, int64_t size) {
  const int64_t begin = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const int64_t reach = size - 1 - start;
  int64_t end = reach < 0 ? 0 : reach / dilation + 1;
  if (end > kernel) end = kernel;
  return begin < end ? Taps{begin, end} : Taps{0, 0};
}

}  // namespace nereid::kernels::NEREID_ISA
