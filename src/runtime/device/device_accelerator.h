// SPDX-License-Identifier: Apache-2.0
// A GPU as an accelerator: decoders of language models run on it.
#pragma once

#include <memory>
#include <string>

#include "device/cuda/cuda_device.h"
#include "kernels/cuda/kernel_table.h"
#include "runtime/accelerator.h"

namespace nereid::runtime {

struct AcceleratorOptions {
  // Matrices of layers that the engine has as floats are kept as f8 (e4m3, a factor a row): half the bytes to read, at
  // the cost of 4 bits of each weight. What makes the logits stays as it is.
  bool floats_as_f8 = false;
};

// "cuda" or "cuda:1": the plugin is loaded, the GPU opened. Errors: those of device/cuda/cuda_device.h, and
// kUnavailable for a plugin whose kernels are of another version.
Result<std::shared_ptr<Accelerator>> open_accelerator(const std::string& name, const AcceleratorOptions& options = {});

// On any device with kernels for it; the table outlives the accelerator.
std::shared_ptr<Accelerator> make_accelerator(std::unique_ptr<device::Device> device,
                                              const kernels::cuda::KernelTable& kernels,
                                              const AcceleratorOptions& options = {});

}  // namespace nereid::runtime
