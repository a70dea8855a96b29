// SPDX-License-Identifier: Apache-2.0
// One execution state of a network: its plans and their memory. One thread at a time uses a context; many contexts may
// share a network.
//
// A first run with some shapes makes the plans for them (binding kernels, packing weights, laying out memory); later
// runs with the same shapes allocate nothing, unless the graph has nodes whose results only a run can size.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "ops/datum.h"
#include "runtime/net/network.h"

namespace nereid::runtime {

struct NetProfile {
  std::string label;   // "conv_last %x"
  std::string kernel;  // "conv", "reference"
  int64_t total_ns = 0;
};

class NetContext {
 public:
  static std::unique_ptr<NetContext> create(std::shared_ptr<const Network> network, ThreadPool& pool);
  ~NetContext();

  // Inputs in the graph's order; what they point to must live until the run has ended. kInvalidArgument: an element
  // type, rank or fixed size that is not the input's.
  Status set_input(size_t index, const ConstTensorView& tensor);
  Status set_input(size_t index, const ops::Datum& value);
  // kInvalidArgument: an input is missing, or an operator refused the values it got; kExhausted; kCancelled.
  Status run();
  // After a run; valid until the next run or the end of an input it passes on. The tensor's data is null if the output
  // is no tensor.
  ConstTensorView output(size_t index) const;
  // A copy, of whatever kind.
  ops::Datum output_value(size_t index) const;

  std::vector<std::string> notes() const;  // what runs on reference evaluators and why
  int64_t memory_bytes() const;            // of all plans
  // Per-step wall time of the next runs, summed.
  void set_profiling(bool on);
  std::vector<NetProfile> profile() const;

 private:
  NetContext();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nereid::runtime
