// SPDX-License-Identifier: Apache-2.0
// One step of a context's plan: a kernel with its parameters bound to the context's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace nereid::runtime {

// A dimension of a run: a constant, or the current value of a symbol.
struct Count {
  int symbol = -1;  // index into Sizes; -1: constant
  int64_t constant = 0;
};

// The symbols' values of one run, by symbol index.
struct Sizes {
  std::vector<int64_t> values;
  int64_t of(Count c) const { return c.symbol < 0 ? c.constant : values[static_cast<size_t>(c.symbol)]; }
};

class Step {
 public:
  virtual ~Step() = default;
  // Before a run, on one thread: takes over the run's sizes.
  virtual void resize(const Sizes& sizes) = 0;
  // By all workers; the caller puts a barrier behind it.
  virtual void run(Worker& worker) = 0;

  std::string label;  // "linear %blk.0.attn_q -> linear.avx512": for profiles and explanations
};

// A kernel whose parameters hold one row count that changes between runs.
template <typename Params>
class KernelStep final : public Step {
 public:
  using Kernel = void (*)(const Params&, Worker&);
  KernelStep(Kernel kernel, Params params, int64_t Params::*rows, Count count)
      : kernel_(kernel), params_(params), rows_(rows), count_(count) {}
  void resize(const Sizes& sizes) override { params_.*rows_ = sizes.of(count_); }
  void run(Worker& worker) override { kernel_(params_, worker); }

 private:
  Kernel kernel_;
  Params params_;
  int64_t Params::*rows_;
  Count count_;
};

}  // namespace nereid::runtime
