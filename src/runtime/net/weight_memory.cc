// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/weight_memory.h"

#include <algorithm>
#include <vector>

#include "base/release_pages.h"
#include "graph/each_constant.h"

namespace nereid::runtime {
namespace {

constexpr int64_t kLeastBytes = 64 << 10;

bool is_matrix(const graph::Graph& graph, graph::ValueId id) {
  if (graph.is_output(id)) return false;
  return std::ranges::all_of(graph.users(id), [&](graph::NodeId user) {
    const graph::Node& node = graph.node(user);
    const std::string_view op = node.op->name;
    if (op != "dense" && op != "conv_last" && op != "conv_transpose_last") return false;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (i != 1 && node.inputs[i] == id) return false;
    return true;
  });
}

}  // namespace

WeightMemory::WeightMemory(const graph::Graph& graph) {
  // Ranges in order of address, with the end of all before each: what overlaps nothing has its bytes to itself.
  std::vector<std::pair<const std::byte*, const std::byte*>> ranges;
  graph::each_constant(graph, [&](const ConstTensorView& part) {
    const auto* begin = static_cast<const std::byte*>(part.data);
    if (part.bytes() > 0) ranges.emplace_back(begin, begin + part.bytes());
  });
  std::ranges::sort(ranges);
  std::vector<const std::byte*> alone;
  const std::byte* end = nullptr;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const bool overlaps =
        (end != nullptr && ranges[i].first < end) || (i + 1 < ranges.size() && ranges[i + 1].first < ranges[i].second);
    if (!overlaps) alone.push_back(ranges[i].first);
    end = std::max(end, ranges[i].second);
  }
  for (graph::ValueId id : graph.constants()) {
    const graph::Value& v = graph.value(id);
    if (v.data.parts.size() != 1 || v.type.dtype != DType::f32 || v.data.parts[0].bytes() < kLeastBytes) continue;
    const auto* data = static_cast<const std::byte*>(v.data.parts[0].data);
    if (std::ranges::binary_search(alone, data) && is_matrix(graph, id)) weights_[data].bytes = v.data.parts[0].bytes();
  }
}

void WeightMemory::bring_back(const void* data, Weight& weight) {
  if (!weight.restore) return;
  // Ours and writable: see the constructor.
  weight.restore(static_cast<std::byte*>(const_cast<void*>(data)));
  weight.restore = nullptr;
}

void WeightMemory::want(const void* data) {
  const std::lock_guard lock(mutex_);
  if (const auto it = weights_.find(data); it != weights_.end()) bring_back(data, it->second);
}

void WeightMemory::keep(const void* data) {
  const std::lock_guard lock(mutex_);
  const auto it = weights_.find(data);
  if (it == weights_.end()) return;
  bring_back(data, it->second);
  it->second.kept = true;
}

void WeightMemory::release(const void* data, Restore restore) {
  const std::lock_guard lock(mutex_);
  const auto it = weights_.find(data);
  if (it == weights_.end() || it->second.kept || it->second.restore) return;
  it->second.restore = std::move(restore);
  release_pages({static_cast<const std::byte*>(data), static_cast<size_t>(it->second.bytes)});
}

int64_t WeightMemory::released_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t sum = 0;
  for (const auto& [data, weight] : weights_) sum += weight.restore ? weight.bytes : 0;
  return sum;
}

}  // namespace nereid::runtime
