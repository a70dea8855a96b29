// SPDX-License-Identifier: Apache-2.0
// From graph nodes to launches: where every value lives in a device's memory, and which kernels compute it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/kernel_table.h"
#include "runtime/device/device_weights.h"
#include "runtime/step.h"

namespace nereid::runtime {

// Where a value lives on the device: rows of `cols` elements, `stride` elements apart.
struct DeviceSlot {
  std::byte* data = nullptr;
  kernels::cuda::Element element = kernels::cuda::Element::kF16;  // i32 inputs aside
  Count rows;
  int64_t cols = 0;
  int64_t stride = 0;
  const int32_t* i32() const { return reinterpret_cast<const int32_t*>(data); }
};

// What one run is: its sizes (rounded up to those of its bucket), and what attention has to know.
struct RunShape {
  Sizes sizes;
  int64_t max_positions = 0;
  // Prompts: the step's tokens by sequence, as attention_prefill has it; else every token attends by itself.
  bool is_prefill = false;
  const int32_t* query_begin = nullptr;
  int64_t blocks = 0, max_queries = 0;
  void* attention_workspace = nullptr;
  void* linear_workspace = nullptr;
};

struct DeviceStep {
  std::string label;
  std::function<void(const RunShape&, const kernels::cuda::Queue&)> launch;
};

// What the lowering of nodes may ask a context that is being built.
class DeviceBinder {
 public:
  virtual ~DeviceBinder() = default;
  virtual const Program& program() const = 0;
  virtual const kernels::cuda::KernelTable& kernels() const = 0;
  virtual DeviceWeights& weights() = 0;
  virtual kernels::cuda::Element element() const = 0;  // of activations
  virtual const DeviceSlot& slot(graph::ValueId id) const = 0;
  virtual int64_t bound(Count count) const = 0;
  // Memory for one step at a time, shared by all; known at once.
  virtual Result<std::byte*> scratch(int64_t bytes) = 0;
  // cos and sin of a run's positions, made once a run and shared between steps; puts a step of its own in front.
  virtual Result<const float*> rope_table(graph::ValueId positions, graph::ValueId inv_freq, double scale) = 0;
  // A norm of heads that attention does on the way: none for other values.
  virtual const graph::Node* absorbed_norm(graph::ValueId id) const = 0;
  virtual void want_attention(int heads, int head_dim) = 0;
  virtual void want_linear(const kernels::cuda::Weight& weight, bool gated) = 0;
  virtual void add(std::string label, std::function<void(const RunShape&, const kernels::cuda::Queue&)> launch) = 0;

  const graph::Graph& graph() const { return program().graph(); }
};

// Adds the node's steps. kUnsupported says what there is no kernel for.
Status bind_device_node(DeviceBinder& binder, const graph::Node& node);

// True if a node may write over a value that it reads: nobody else sees it, not even as a part of what it is a view
// into.
bool may_overwrite(const graph::Graph& graph, graph::ValueId id);

}  // namespace nereid::runtime
