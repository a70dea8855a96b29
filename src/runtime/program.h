// SPDX-License-Identifier: Apache-2.0
// A compiled graph with its weights in memory: immutable, shared by any number of contexts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "engine/engine_file.h"
#include "graph/graph.h"
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/packed_weight.h"

namespace nereid::runtime {

// A constant's bytes as the kernels want them.
struct Weight {
  bool is_packed = false;
  kernels::PackedWeight packed;     // is_packed
  const std::byte* data = nullptr;  // else: row-major, the constant's dtype
};

using StateTypes = std::map<std::string, ops::TensorType, std::less<>>;  // by name
using RetypeFn = std::function<Result<StateTypes>(const graph::Graph&)>;

class Program {
 public:
  // Reads the graph and all weights, in parallel on `pool`, into huge pages; verifies them on the way.
  // Memory: the weights once. Errors: a corrupt engine, or no memory. `retype` says which states
  // are kept in other types than the engine's (a cache in 8 bits); kInvalidArgument: there is no such state, or an op
  // that reads it refuses the type.
  static Result<std::shared_ptr<const Program>> load(const engine::EngineFile& file, Isa isa, ThreadPool& pool,
                                                     const RetypeFn& retype = {});

  const graph::Graph& graph() const { return graph_; }
  const kernels::IsaKernels& kernels() const { return *kernels_; }
  // By the constant's value id; null when the graph carries the data itself (small constants).
  const Weight* weight(graph::ValueId id) const;
  // The f32 data of a plain constant (norm weights, biases, frequencies), or null.
  const float* f32_constant(graph::ValueId id) const;
  int64_t weights_bytes() const { return static_cast<int64_t>(memory_.size()); }

 private:
  Status retype(const StateTypes& states);

  graph::Graph graph_;
  const kernels::IsaKernels* kernels_ = nullptr;
  Buffer memory_;
  std::map<int32_t, Weight> weights_;
};

}  // namespace nereid::runtime
