// SPDX-License-Identifier: Apache-2.0
// A GPU as an accelerator: decoders of language models run on it.
#pragma once

#include <memory>
#include <string>

#include "device/cuda/cuda_device.h"
#include "kernels/cuda/kernel_table.h"
#include "runtime/accelerator.h"

namespace nereid::runtime {

// "cuda" or "cuda:1": the plugin is loaded, the GPU opened. Errors: those of device/cuda/cuda_device.h, and
// kUnavailable for a plugin whose kernels are of another version.
Result<std::shared_ptr<Accelerator>> open_accelerator(const std::string& name);

// On any device with kernels for it; the table outlives the accelerator.
std::shared_ptr<Accelerator> make_accelerator(std::unique_ptr<device::Device> device,
                                              const kernels::cuda::KernelTable& kernels);

}  // namespace nereid::runtime
