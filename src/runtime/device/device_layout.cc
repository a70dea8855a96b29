// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device_layout.h"

#include <algorithm>
#include <cstring>

#include "runtime/memory_plan.h"

namespace nereid::runtime {

namespace gpu = kernels::cuda;

Result<Count> DeviceLayout::count_of(const Dim& dim, const ContextOptions& options) {
  if (dim.is_static()) return Count{-1, dim.size()};
  for (size_t i = 0; i < symbols_.size(); ++i)
    if (symbols_[i] == dim.symbol()) return Count{static_cast<int>(i), 0};
  const auto it = options.bounds.find(dim.symbol());
  if (it == options.bounds.end() || it->second < 1 || it->second > int64_t{1} << 31)
    return invalid_argument("the symbolic dimension '{}' has no bound from 1 to 2^31", dim.symbol());
  symbols_.push_back(dim.symbol());
  bounds_.push_back(it->second);
  return Count{static_cast<int>(symbols_.size()) - 1, 0};
}

// What goes out is f32, and so is what only scales on the way there.
gpu::Element DeviceLayout::element_of(graph::ValueId id) const {
  const graph::Graph& g = graph_;
  if (g.is_output(id)) return gpu::Element::kF32;
  const auto users = g.users(id);
  const bool scales_only = !users.empty() && std::ranges::all_of(users, [&](graph::NodeId n) {
    const graph::Node& user = g.node(n);
    return (user.op->name == "scale" || user.op->name == "softcap") &&
           element_of(user.outputs[0]) == gpu::Element::kF32;
  });
  return scales_only ? gpu::Element::kF32 : element_;
}

Status DeviceLayout::describe(graph::ValueId id, const ContextOptions& options) {
  const graph::Value& v = graph_.value(id);
  DeviceSlot& s = slots_[static_cast<size_t>(id.v)];
  const Shape& shape = v.type.shape;
  std::vector<Count> dims;
  for (const Dim& d : shape.dims()) {
    NEREID_TRY(const Count c, count_of(d, options).with("value '" + v.name + "'"));
    dims.push_back(c);
  }
  if (shape.rank() == 0) return unsupported("the value '{}' has no rows", v.name);
  s.rows = dims[0];
  s.cols = shape.rank() == 1 ? 1 : bound(dims.back());
  s.stride = s.cols;
  return Status::ok();
}

// Norms of queries' and keys' heads that only attention reads become a part of its first launch.
void DeviceLayout::absorb_norms() {
  const graph::Graph& g = graph_;
  const auto norm_of = [&](graph::ValueId id, int64_t head_dim) -> std::optional<graph::NodeId> {
    const graph::Value& v = g.value(id);
    if (v.kind != graph::Value::Kind::kResult || g.users(id).size() != 1) return std::nullopt;
    const graph::Node& node = g.node(v.producer);
    if (node.op->name != "rms_norm" || node.attrs.integer("group") != head_dim || node.inputs[2].valid() ||
        !node.inputs[1].valid())
      return std::nullopt;
    return v.producer;
  };
  for (graph::NodeId n : g.order()) {
    const graph::Node& node = g.node(n);
    if (node.op->name != "attention") continue;
    const int64_t head_dim = node.attrs.integer("head_dim");
    const auto q = norm_of(node.inputs[0], head_dim), k = norm_of(node.inputs[1], head_dim);
    if (q && k && g.node(*q).attrs.real("eps") != g.node(*k).attrs.real("eps")) continue;
    if (q) absorbed_[node.inputs[0].v] = *q;
    if (k) absorbed_[node.inputs[1].v] = *k;
  }
}

int64_t DeviceLayout::add_input(std::string name, int64_t bytes) {
  inputs_.push_back({.name = std::move(name), .offset = inputs_bytes_, .bytes = bytes});
  inputs_bytes_ += device_aligned(bytes);
  return inputs_.back().offset;
}

Status DeviceLayout::place_inputs(const ContextOptions& options) {
  graph::ValueId table;
  for (graph::ValueId id : graph_.inputs()) {
    const graph::Value& v = graph_.value(id);
    NEREID_RETURN_IF_ERROR(describe(id, options));
    if (v.type.dtype != DType::i32) return unsupported("the input '{}' is no i32", v.name);
    if (v.name == "page_table")
      table = id;
    else
      add_input(v.name, bound(slot(id).rows) * slot(id).stride * 4);
  }
  for (const char* name : {"tokens", "positions", "sequence", "output_rows"})
    if (std::ranges::none_of(inputs_, [&](const Input& in) { return in.name == name; }))
      return unsupported("the graph has no input '{}', so it is no decoder's", name);
  if (!table.valid()) return unsupported("the graph has no page_table, so it is no decoder's");
  tokens_ = static_cast<size_t>(slot(find("tokens")).rows.symbol);
  outputs_ = static_cast<size_t>(slot(find("output_rows")).rows.symbol);
  runs_offset_ = add_input("", (bounds_[tokens_] + 1) * 4);
  table_offset_ = add_input("page_table", bound(slot(table).rows) * slot(table).stride * 4);
  NEREID_TRY(host_inputs_, device_.allocate_host(inputs_bytes_));
  std::memset(host_inputs_.data(), 0, static_cast<size_t>(inputs_bytes_));
  NEREID_TRY(inputs_memory_, device_.allocate(inputs_bytes_));
  for (const Input& in : inputs_)
    if (!in.name.empty()) slots_[static_cast<size_t>(find(in.name).v)].data = inputs_memory_.data() + in.offset;
  return Status::ok();
}

Status DeviceLayout::place_states(const ContextOptions& options) {
  if (graph_.states().empty()) return unsupported("the graph has no cache, so it is no decoder's");
  for (graph::ValueId id : graph_.states()) {
    NEREID_RETURN_IF_ERROR(describe(id, options));
    const auto it = options.states.find(graph_.value(id).name);
    if (it == options.states.end() || it->second == nullptr)
      return invalid_argument("the state '{}' has no memory", graph_.value(id).name);
    slots_[static_cast<size_t>(id.v)].data = it->second;
  }
  return Status::ok();
}

// Results share one arena, as on the CPU: splits are views into what they split.
Status DeviceLayout::place_results(const ContextOptions& options) {
  const graph::Graph& g = graph_;
  std::vector<PlanBuffer> buffers;
  std::vector<int32_t> buffer_of(g.value_count(), -1);
  const auto end = static_cast<int32_t>(g.order().size());
  const auto read = [&](graph::ValueId id, int32_t step) {
    if (!id.valid() || buffer_of[static_cast<size_t>(id.v)] < 0) return;
    PlanBuffer& b = buffers[static_cast<size_t>(buffer_of[static_cast<size_t>(id.v)])];
    b.last_step = std::max(b.last_step, step);
  };
  for (int32_t step = 0; step < end; ++step) {
    const graph::Node& node = g.node(g.order()[static_cast<size_t>(step)]);
    for (graph::ValueId id : node.inputs) {
      read(id, step);
      if (id.valid() && absorbed_.contains(id.v)) read(g.node(absorbed_.at(id.v)).inputs[0], step);
    }
    int64_t column = 0;
    for (graph::ValueId id : node.outputs) {
      const graph::Value& v = g.value(id);
      NEREID_RETURN_IF_ERROR(describe(id, options));
      DeviceSlot& s = slots_[static_cast<size_t>(id.v)];
      if (v.type.dtype != DType::f32 || v.type.shape.rank() != 2 || !v.type.shape[1].is_static())
        return unsupported("there are no GPU kernels for the value '{}' of type {}", v.name, v.type.to_string());
      s.element = element_of(id);
      s.stride = (s.cols + 7) / 8 * 8;
      const int64_t element_bytes = gpu::element_bytes(s.element);
      PlanBuffer b{.size_bytes = device_aligned(bound(s.rows) * s.stride * element_bytes),
                   .first_step = step,
                   .last_step = g.is_output(id) ? end : step,
                   .alignment = kDeviceAlignment};
      if (node.op->name == "split") {
        const graph::ValueId source = node.inputs[0];
        if (g.value(source).kind != graph::Value::Kind::kResult || s.cols % 8 != 0 || s.element != slot(source).element)
          return unsupported("a split into {} columns of '{}' is no view that GPU kernels can read", s.cols,
                             g.value(source).name);
        b.view_of = buffer_of[static_cast<size_t>(source.v)];
        b.view_offset = column * element_bytes;
        b.size_bytes = buffers[static_cast<size_t>(b.view_of)].size_bytes - b.view_offset;
        b.alignment = 16;
        s.stride = slot(source).stride;
        column += s.cols;
      }
      buffer_of[static_cast<size_t>(id.v)] = static_cast<int32_t>(buffers.size());
      buffers.push_back(b);
    }
  }
  NEREID_TRY(const MemoryPlan plan, plan_memory(buffers));
  NEREID_TRY(arena_, device_.allocate(std::max<int64_t>(plan.arena_bytes, 1)));
  for (size_t v = 0; v < buffer_of.size(); ++v)
    if (buffer_of[v] >= 0) slots_[v].data = arena_.data() + plan.offsets[static_cast<size_t>(buffer_of[v])];
  return Status::ok();
}

Status DeviceLayout::build(const ContextOptions& options) {
  slots_.resize(graph_.value_count());
  absorb_norms();
  NEREID_RETURN_IF_ERROR(place_inputs(options));
  NEREID_RETURN_IF_ERROR(place_states(options));
  return place_results(options);
}

const graph::Node* DeviceLayout::absorbed_norm(graph::ValueId id) const {
  const auto it = absorbed_.find(id.v);
  return it == absorbed_.end() ? nullptr : &graph_.node(it->second);
}

int64_t DeviceLayout::page_tokens() const {
  return graph_.value(graph_.states().front()).type.shape[2].size();
}

graph::ValueId DeviceLayout::find(std::string_view name) const {
  const graph::ValueId id = graph_.find_value(name);
  NEREID_CHECK(id.valid());
  return id;
}

std::byte* DeviceLayout::host_input(std::string_view name) const {
  for (const Input& in : inputs_)
    if (in.name == name) return host_inputs_.data() + in.offset;
  NEREID_CHECK(false && "no such input");
  return nullptr;
}

}  // namespace nereid::runtime
