// SPDX-License-Identifier: Apache-2.0
// One bound kernel of a network's plan.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/thread_pool.h"

namespace nereid::runtime {

class NetStep {
 public:
  virtual ~NetStep() = default;
  // By all workers; the caller puts a barrier behind it.
  virtual void run(Worker& worker) = 0;

  std::string label;   // "conv_last %x"
  std::string kernel;  // "conv.winograd", "reference"
  std::string note;    // of a reference evaluator: why no kernel took the node
  // Where there were several ways (kernels/cpu/tactic.h): what was to be solved, and how it is.
  std::string problem, tactic;
};

// A kernel with its parameters, whose pointers the plan sets (binder.h).
template <typename Params>
class ParamStep final : public NetStep {
 public:
  using Kernel = void (*)(const Params&, Worker&);
  explicit ParamStep(Kernel function) : function_(function) {}
  void run(Worker& worker) override { function_(params, worker); }
  Params params;

 private:
  Kernel function_;
};

}  // namespace nereid::runtime
