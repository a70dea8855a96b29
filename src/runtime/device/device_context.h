// SPDX-License-Identifier: Apache-2.0
// A decoder's execution state on a device: its activations, its weights there, and the launches of a run.
//
// The graph is a decoder's: inputs tokens, positions and sequence of [tokens], output_rows of [outputs] and page_table
// (llm/run/model_interface.h checks that). The caller fills inputs in pinned memory; a run copies them over. Runs of
// few tokens, and of any number of tokens each of another sequence, are rounded up to a bucket (rows beyond the end are
// padding, position -1) whose launches are captured once and replayed; prompts are launched as they are.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "device/device.h"
#include "kernels/cuda/kernel_table.h"
#include "runtime/context.h"

namespace nereid::runtime {

// All of them outlive the context.
struct DeviceParts {
  device::Device& device;
  const kernels::cuda::KernelTable& kernels;
  device::Stream& stream;
  bool floats_as_f8 = false;  // the layers' matrices
};

Result<std::unique_ptr<Context>> make_device_context(const DeviceParts& parts, std::shared_ptr<const Program> program,
                                                     ThreadPool& pool, const ContextOptions& options);

}  // namespace nereid::runtime
