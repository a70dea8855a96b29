// SPDX-License-Identifier: Apache-2.0
// One execution state of a program: its memory, its bound steps and its inputs and outputs.
//
// Everything is allocated when a context is made, for the largest sizes it is to serve; a run allocates nothing.
// One thread at a time uses a context; many contexts may share a program.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/thread_pool.h"
#include "runtime/adapter.h"
#include "runtime/program.h"
#include "runtime/step.h"

namespace nereid::runtime {

class RowDrawer;

// State memory somebody else owns (a key/value cache); as large as the state's type with its symbols bound.
using StateMemory = std::map<std::string, std::byte*, std::less<>>;

struct ContextOptions {
  std::map<std::string, int64_t, std::less<>> bounds;  // each symbol's largest value
  StateMemory states;
};

class Context {
 public:
  // On the CPU. kInvalidArgument: a symbol without bound, a state without memory; kExhausted: no memory for the sizes
  // asked. On a device: Accelerator::make_context.
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Program> program, ThreadPool& pool,
                                                 const ContextOptions& options);
  virtual ~Context() = default;

  // Where to write an input; rows are input_stride elements apart, which is its last dimension's bound.
  template <typename T>
  T* input(std::string_view name) {
    return reinterpret_cast<T*>(input_data(name));
  }
  virtual int64_t input_stride(std::string_view name) const = 0;
  // Host memory, until the next run. A device hands its outputs over in the first call after a run; where that fails
  // they are undefined, and the next run tells.
  virtual const float* output(std::string_view name) const = 0;
  virtual int64_t output_stride(std::string_view name) const = 0;

  // The index of a symbol for set_size; checked.
  virtual int symbol(std::string_view name) const = 0;
  virtual void set_size(int symbol, int64_t value) = 0;
  // Which rows of the dimension carry an adapter, from the next run on until it is told anew; a row has one at most
  // (checked: below the bound). What the groups point to must live as long.
  virtual void set_adapters(int symbol, std::span<const AdapterRows> groups) = 0;
  // True if the products with this constant are computed by steps that know adapters.
  virtual bool takes_adapter(graph::ValueId weight) const = 0;
  // Runs all steps. Sizes must be within their bounds (checked). On the CPU it cannot fail; a device's errors are those
  // of device/device.h.
  virtual Status run() = 0;

  // Draws tokens where the logits lie; null on the CPU, where who draws reads them.
  virtual RowDrawer* drawer() { return nullptr; }

  // What runs on a reference evaluator and why, one sentence each; empty when every node has a kernel.
  virtual const std::vector<std::string>& notes() const = 0;
  virtual int64_t arena_bytes() const = 0;

  // Per-step wall time of the next runs, in nanoseconds, summed; labels by the same index.
  virtual void set_profiling(bool on) = 0;
  virtual std::vector<std::pair<std::string, int64_t>> profile() const = 0;

 private:
  virtual std::byte* input_data(std::string_view name) = 0;
};

}  // namespace nereid::runtime
