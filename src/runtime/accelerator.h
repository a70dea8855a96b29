// SPDX-License-Identifier: Apache-2.0
// A device beside the CPU that runs programs: makes contexts of them, with its own copy of their weights, and memory
// for their states. What uses a program sees a Context whatever it runs on.
#pragma once

#include <memory>
#include <string>

#include "runtime/context.h"
#include "runtime/state_buffer.h"

namespace nereid::runtime {

// Used by one thread at a time, with the contexts and states it made, which it outlives.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual std::string name() const = 0;  // "cuda:0 (NVIDIA H200)"
  virtual Result<int64_t> free_bytes() = 0;
  // In which type keys and values are kept where nobody says it: what its kernels take beside these weights.
  virtual DType cache_type(const graph::Graph& graph) const = 0;
  // kUnsupported: a node that it has no kernel for (there is no falling back to evaluators); kExhausted: weights or
  // activations do not fit.
  virtual Result<std::unique_ptr<Context>> make_context(std::shared_ptr<const Program> program, ThreadPool& pool,
                                                        const ContextOptions& options) = 0;
  virtual Result<std::unique_ptr<StateBuffer>> make_state(int64_t bytes) = 0;
};

}  // namespace nereid::runtime
