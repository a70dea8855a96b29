// SPDX-License-Identifier: Apache-2.0
// Rules, edits and masks of a step's draws on their way to a device, and what was drawn on its way back.
#pragma once

#include "device/device.h"
#include "kernels/cuda/kernel_table.h"
#include "runtime/row_drawer.h"

namespace nereid::runtime {

// Memory grows with what is asked. One draw at a time: the stream is waited for between two.
class DeviceDrawer {
 public:
  DeviceDrawer(device::Device& device, const kernels::cuda::KernelTable& kernels, device::Stream& stream)
      : device_(device), kernels_(kernels), stream_(stream) {}

  // From rows of `vocab` logits, `stride` apart.
  Status draw(const DrawRequest& request, float* logits, int64_t stride, int64_t vocab);
  DrawnRows drawn() const;

 private:
  Status reserve(int64_t up_bytes, int64_t draws);

  device::Device& device_;
  const kernels::cuda::KernelTable& kernels_;
  device::Stream& stream_;
  device::Memory host_up_, up_;      // rules, edits, masks
  device::Memory host_down_, down_;  // tokens, logprobs, top tokens, top logprobs
  int64_t draws_ = 0;
  bool has_tops_ = false;
};

}  // namespace nereid::runtime
