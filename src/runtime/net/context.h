// SPDX-License-Identifier: Apache-2.0
// One execution state of a network: its plans and their memory. One thread at a time uses a context; many contexts may
// share a network.
//
// A first run with some shapes makes the plans for them (binding kernels, packing weights, laying out memory); later
// runs with the same shapes allocate nothing, unless the graph has nodes whose results only a run can size.
#pragma once

#include <atomic>
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
  // Of steps that can be done in several ways (kernels/cpu/tactic.h).
  std::string problem, tactic;
  int64_t total_ns = 0;
};

// A node of the network's graph, or of a graph inside one of its nodes, as the last run had it.
struct NetLayer {
  std::string path;  // of the graph around it: "" the network's own, else "RESULT/INDEX/" for each node around (text.h)
  const graph::Graph* graph = nullptr;  // that the node is in; lives as long as the network
  graph::NodeId node;
  std::string kernel;           // "" without a step: another name for its input, known from sizes, or runs graphs
  std::string note;             // why no kernel took it
  std::string problem, tactic;  // as in NetProfile
  int64_t total_ns = 0;
  std::vector<ops::TensorType> inputs, outputs;  // concrete; those of what never ran or is absent are unranked
};

class NetContext {
 public:
  static std::unique_ptr<NetContext> create(std::shared_ptr<const Network> network, ThreadPool& pool);
  ~NetContext();

  // Inputs in the graph's order; what they point to must live until the run has ended. Another address for the type and
  // sizes that the input has already allocates nothing. kInvalidArgument: an element type, rank or fixed size that is
  // not the input's.
  Status set_input(size_t index, const ConstTensorView& tensor);
  Status set_input(size_t index, const ops::Datum& value);
  // The caller's memory for an output, until it is bound anew (empty: no more). The last kernel writes straight into it
  // where it can; else (an input passed on, the result of a node that only a run can size, memory that overlaps an
  // input) the output is copied there once. Memory must be aligned for the elements.
  void bind_output(size_t index, std::span<std::byte> memory);
  // Looked at between steps: once true, the run ends with kCancelled. Null: nobody stops it. Must outlive the runs.
  void set_stop(const std::atomic<bool>* stop);
  // kInvalidArgument: an input is missing, an operator refused the values it got, or a bound output is larger than its
  // memory (all outputs are there to be looked at then); kExhausted; kCancelled.
  Status run();
  // After a run; valid until the next run or the end of an input it passes on. The tensor's data is null if the output
  // is no tensor.
  ConstTensorView output(size_t index) const;
  // The same without a copy of the sizes: its type as the run had it, and its data (null if it is no tensor).
  const ops::TensorType& output_type(size_t index) const;
  const void* output_data(size_t index) const;
  // A copy, of whatever kind.
  ops::Datum output_value(size_t index) const;

  std::vector<std::string> notes() const;  // what runs on reference evaluators and why
  int64_t memory_bytes() const;            // of all plans
  // Per-step wall time of the next runs, summed.
  void set_profiling(bool on);
  std::vector<NetProfile> profile() const;
  // Every node in execution order, those of regions that ran after the node around them.
  std::vector<NetLayer> layers() const;

 private:
  NetContext();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nereid::runtime
