// SPDX-License-Identifier: Apache-2.0
// Where a decoder's values lie in a device's memory: inputs in one piece, results in one arena, states where their
// owner has them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "runtime/context.h"
#include "runtime/device/device_step.h"

namespace nereid::runtime {

class DeviceLayout {
 public:
  // Where an input is written, in host_inputs(), and where it goes, in inputs(): both in the same order.
  struct Input {
    std::string name;
    int64_t offset = 0, bytes = 0;
  };

  DeviceLayout(device::Device& device, const graph::Graph& graph, kernels::cuda::Element element)
      : device_(device), graph_(graph), element_(element) {}
  // kUnsupported: no decoder's graph, or a value that no device kernel reads; kInvalidArgument: a symbol without bound,
  // a state without memory; kExhausted.
  Status build(const ContextOptions& options);

  const DeviceSlot& slot(graph::ValueId id) const { return slots_[static_cast<size_t>(id.v)]; }
  int64_t bound(Count c) const { return c.symbol < 0 ? c.constant : bounds_[static_cast<size_t>(c.symbol)]; }
  const std::vector<std::string>& symbols() const { return symbols_; }
  const std::vector<int64_t>& bounds() const { return bounds_; }
  size_t tokens() const { return tokens_; }  // symbols
  size_t outputs() const { return outputs_; }
  int64_t page_tokens() const;
  // The norm of heads that attention does on the way to this value of its; null for others.
  const graph::Node* absorbed_norm(graph::ValueId id) const;

  std::byte* host_input(std::string_view name) const;
  std::byte* host_inputs() const { return host_inputs_.data(); }
  std::byte* inputs() const { return inputs_memory_.data(); }
  // The page table, which seldom changes, comes last; the runs of a prompt's step before it.
  int64_t table_offset() const { return table_offset_; }
  int64_t table_bytes() const { return inputs_.back().bytes; }
  int64_t runs_offset() const { return runs_offset_; }
  int64_t arena_bytes() const { return arena_.bytes(); }

 private:
  Result<Count> count_of(const Dim& dim, const ContextOptions& options);
  Status describe(graph::ValueId id, const ContextOptions& options);
  kernels::cuda::Element element_of(graph::ValueId id) const;
  void absorb_norms();
  int64_t add_input(std::string name, int64_t bytes);
  Status place_inputs(const ContextOptions& options);
  Status place_states(const ContextOptions& options);
  Status place_results(const ContextOptions& options);
  graph::ValueId find(std::string_view name) const;

  device::Device& device_;
  const graph::Graph& graph_;
  const kernels::cuda::Element element_;
  std::vector<std::string> symbols_;
  std::vector<int64_t> bounds_;
  size_t tokens_ = 0, outputs_ = 0;
  std::vector<DeviceSlot> slots_;              // by value id
  std::map<int32_t, graph::NodeId> absorbed_;  // by the norm's result
  std::vector<Input> inputs_;
  int64_t inputs_bytes_ = 0, table_offset_ = 0, runs_offset_ = 0;
  device::Memory host_inputs_, inputs_memory_, arena_;
};

// Sizes in a device's memory are multiples of this.
inline constexpr int64_t kDeviceAlignment = 256;
constexpr int64_t device_aligned(int64_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

}  // namespace nereid::runtime
