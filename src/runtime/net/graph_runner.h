// SPDX-License-Identifier: Apache-2.0
// Runs one graph of a network: the root's, or a region's. Private to runtime/net.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "runtime/net/context.h"
#include "runtime/net/plan.h"

namespace nereid::runtime {

class GraphRunner {
 public:
  GraphRunner(const Network& network, const graph::Graph& graph, ThreadPool& pool);

  std::vector<NetValue>& values() { return values_; }
  const NetValue& value(graph::ValueId id) const { return values_[static_cast<size_t>(id.v)]; }
  // Inputs are in values(). Afterwards every output is.
  Status run(bool profiling);
  // Of the graph's outputs: memory that results are to lie in (empty: the plan's own), and, after a run, copying there
  // what could not be computed there. See context.h.
  void bind_output(size_t index, std::span<std::byte> memory);
  Status deliver_outputs();
  void set_stop(const std::atomic<bool>* stop) { stop_ = stop; }
  void collect_notes(std::vector<std::string>& notes) const;
  void collect_profile(std::vector<NetProfile>& profile) const;
  void collect_layers(const std::string& path, std::vector<NetLayer>& layers) const;
  int64_t memory_bytes() const;

  static ops::Datum copy(const NetValue& value);

 private:
  Result<Plan*> plan_at(size_t begin);
  void place_outputs(Plan& plan);
  std::byte* place_for(const Plan::Output& output) const;
  Status run_steps(Plan& plan, bool profiling);
  Status run_dynamic(graph::NodeId id, bool profiling);
  Status run_if(const graph::Node& node, bool profiling);
  GraphRunner& region(graph::NodeId id, size_t index);
  void give(graph::ValueId id, ops::Datum datum);

  const Network& network_;
  const graph::Graph& graph_;
  ThreadPool& pool_;
  std::vector<NetValue> values_;
  std::vector<std::unique_ptr<ops::Datum>> owned_;              // by value id: results of dynamic nodes
  std::vector<ops::Tensor> joined_;                             // constants in several parts
  std::map<size_t, std::vector<std::unique_ptr<Plan>>> plans_;  // by where they begin, the last used first
  std::map<std::pair<int32_t, size_t>, std::unique_ptr<GraphRunner>> regions_;
  std::vector<std::span<std::byte>> bound_;  // by output; empty: none is bound
  const std::atomic<bool>* stop_ = nullptr;
  int64_t dynamic_ns_ = 0;
};

}  // namespace nereid::runtime
