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

// State memory somebody else owns (a key/value cache); as large as the state's type with its symbols bound.
using StateMemory = std::map<std::string, std::byte*, std::less<>>;

struct ContextOptions {
  std::map<std::string, int64_t, std::less<>> bounds;  // each symbol's largest value
  StateMemory states;
};

class Context {
 public:
  // kInvalidArgument: a symbol without bound, a state without memory; kExhausted: no memory for the sizes asked.
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Program> program, ThreadPool& pool,
                                                 const ContextOptions& options);
  ~Context();

  // Where to write an input; rows are input_stride elements apart, which is its last dimension's bound.
  template <typename T>
  T* input(std::string_view name) {
    return reinterpret_cast<T*>(input_data(name));
  }
  int64_t input_stride(std::string_view name) const;
  const float* output(std::string_view name) const;
  int64_t output_stride(std::string_view name) const;

  // The index of a symbol for set_size; checked.
  int symbol(std::string_view name) const;
  void set_size(int symbol, int64_t value);
  // Which rows of the dimension carry an adapter, from the next run on until it is told anew; a row has one at most
  // (checked: below the bound). What the groups point to must live as long.
  void set_adapters(int symbol, std::span<const AdapterRows> groups);
  // True if the products with this constant are computed by steps that know adapters.
  bool takes_adapter(graph::ValueId weight) const;
  // Runs all steps on the pool. Sizes must be within their bounds (checked).
  void run();

  // What runs on a reference evaluator and why, one sentence each; empty when every node has a kernel.
  const std::vector<std::string>& notes() const;
  int64_t arena_bytes() const;

  // Per-step wall time of the next runs, in nanoseconds, summed; labels by the same index.
  void set_profiling(bool on);
  std::vector<std::pair<std::string, int64_t>> profile() const;

 private:
  Context();
  std::byte* input_data(std::string_view name);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nereid::runtime
