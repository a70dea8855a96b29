// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device_context.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "runtime/device/device_step.h"
#include "runtime/device/run_shape.h"
#include "runtime/memory_plan.h"

namespace nereid::runtime {
namespace {

namespace gpu = kernels::cuda;
using device::Direction;
using device::Memory;

constexpr int64_t kAlignment = 256;
// Outputs of so many rows come back with the run; of more when they are asked for.
constexpr int64_t kOutputsWithRun = 4;
// Graphs that are kept; beyond, all are dropped and captured anew as they come.
constexpr size_t kMostGraphs = 256;

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct AttentionKind {
  int heads, kv_heads, head_dim;
  bool operator==(const AttentionKind&) const = default;
};

class DeviceContext final : public Context, DeviceBinder {
 public:
  DeviceContext(const DeviceParts& parts, std::shared_ptr<const Program> program, ThreadPool& pool)
      : device_(parts.device),
        kernels_(parts.kernels),
        stream_(parts.stream),
        program_(std::move(program)),
        weights_(program_, device_, kernels_, stream_, pool),
        element_(activation_type(program_->graph()) == DType::bf16 ? gpu::Element::kBF16 : gpu::Element::kF16) {}

  Status build(const ContextOptions& options);

  // Context
  int64_t input_stride(std::string_view name) const override { return slot(find(name)).stride; }
  int64_t output_stride(std::string_view name) const override { return slot(find(name)).stride; }
  const float* output(std::string_view name) const override;
  int symbol(std::string_view name) const override {
    for (size_t i = 0; i < symbols_.size(); ++i)
      if (symbols_[i] == name) return static_cast<int>(i);
    NEREID_CHECK(false && "no such symbol");
    return -1;
  }
  void set_size(int symbol, int64_t value) override {
    const auto i = static_cast<size_t>(symbol);
    NEREID_CHECK(i < bounds_.size() && value >= 0 && value <= bounds_[i]);
    sizes_.values[i] = value;
  }
  void set_adapters(int, std::span<const AdapterRows> groups) override { NEREID_CHECK(groups.empty()); }
  bool takes_adapter(graph::ValueId) const override { return false; }
  Status run() override;
  const std::vector<std::string>& notes() const override { return notes_; }
  int64_t arena_bytes() const override {
    return arena_.bytes() + attention_workspace_.bytes() + linear_workspace_.bytes();
  }
  void set_profiling(bool on) override { profiling_ = on; }
  std::vector<std::pair<std::string, int64_t>> profile() const override {
    std::vector<std::pair<std::string, int64_t>> out;
    for (size_t i = 0; i < steps_.size(); ++i) out.emplace_back(steps_[i].label, step_ns_[i]);
    return out;
  }

  // DeviceBinder
  const Program& program() const override { return *program_; }
  const gpu::KernelTable& kernels() const override { return kernels_; }
  DeviceWeights& weights() override { return weights_; }
  gpu::Element element() const override { return element_; }
  const DeviceSlot& slot(graph::ValueId id) const override { return slots_[static_cast<size_t>(id.v)]; }
  int64_t bound(Count c) const override { return c.symbol < 0 ? c.constant : bounds_[static_cast<size_t>(c.symbol)]; }
  Result<std::byte*> scratch(int64_t bytes) override {
    if (bytes > scratch_.bytes()) return internal("scratch of {} bytes was not foreseen", bytes);
    return scratch_.data();
  }
  Result<const float*> rope_table(graph::ValueId positions, graph::ValueId inv_freq, double scale) override;
  const graph::Node* absorbed_norm(graph::ValueId id) const override {
    const auto it = absorbed_.find(id.v);
    return it == absorbed_.end() ? nullptr : &program_->graph().node(it->second);
  }
  void want_attention(int heads, int kv_heads, int head_dim) override {
    const AttentionKind kind{heads, kv_heads, head_dim};
    if (std::ranges::find(attentions_, kind) == attentions_.end()) attentions_.push_back(kind);
  }
  void want_linear(const gpu::Weight& weight, bool gated) override {
    linear_workspace_bytes_ =
        std::max(linear_workspace_bytes_, kernels_.linear_workspace_bytes(weight, gated, bounds_[tokens_]));
  }
  void add(std::string label, std::function<void(const RunShape&, const gpu::Queue&)> launch) override {
    steps_.push_back({std::move(label), std::move(launch)});
  }

 private:
  // Where an input is written and where it goes.
  struct Input {
    std::string name;
    int64_t offset = 0, bytes = 0;
  };
  struct Output {
    graph::ValueId id;
    std::string name;
    Memory host;
  };
  struct Captured {
    int uses = 0;
    device::Graph graph;
  };
  using Key = std::tuple<int64_t, int64_t, int64_t>;  // tokens, outputs, positions

  int64_t page_tokens() const {
    for (graph::ValueId id : graph().states()) return graph().value(id).type.shape[2].size();
    return 1;
  }
  graph::ValueId find(std::string_view name) const {
    const graph::ValueId id = program_->graph().find_value(name);
    NEREID_CHECK(id.valid());
    return id;
  }
  std::byte* input_data(std::string_view name) override {
    for (const Input& in : inputs_)
      if (in.name == name) return host_inputs_.data() + in.offset;
    NEREID_CHECK(false && "no such input");
    return nullptr;
  }

  Result<Count> count_of(const Dim& dim, const ContextOptions& options);
  Status describe(graph::ValueId id, const ContextOptions& options);
  gpu::Element element_of(graph::ValueId id) const;
  void absorb_norms();
  Status place_inputs_and_states(const ContextOptions& options);
  Status place_results(const ContextOptions& options);
  Status place_scratch();
  Status place_outputs();

  void pad(int64_t tokens, int64_t outputs);
  Status copy_page_table();
  Status reserve_workspace(int64_t tokens, int64_t max_positions);
  Status launch_all(const RunShape& shape, bool brings_outputs);
  Status launch_profiled(const RunShape& shape);
  Status replay(const Key& key, const RunShape& shape, bool brings_outputs);
  Status fetch(int64_t rows) const;

  device::Device& device_;
  const gpu::KernelTable& kernels_;
  device::Stream& stream_;
  std::shared_ptr<const Program> program_;
  DeviceWeights weights_;
  const gpu::Element element_;
  std::vector<std::string> symbols_;
  std::vector<int64_t> bounds_;
  Sizes sizes_;
  size_t tokens_ = 0, outputs_ = 0;  // symbols
  std::vector<DeviceSlot> slots_;
  std::map<int32_t, graph::NodeId> absorbed_;  // by the norm's result
  std::vector<DeviceStep> steps_;
  std::vector<std::string> notes_;

  // The inputs lie in one piece in the same order on both sides; the page table, which seldom changes, comes last.
  std::vector<Input> inputs_;
  Memory host_inputs_, inputs_memory_;
  int64_t table_offset_ = 0, runs_offset_ = 0;
  std::vector<std::byte> known_table_;  // as it is on the device
  Memory arena_, scratch_, attention_workspace_, linear_workspace_;
  std::vector<Memory> rope_memory_;
  std::map<std::tuple<int32_t, int32_t, double>, const float*> rope_tables_;
  std::vector<AttentionKind> attentions_;
  int64_t linear_workspace_bytes_ = 0;
  std::vector<Output> outputs_memory_;
  mutable bool is_fetched_ = true;

  TokenRuns runs_;
  std::map<Key, Captured> graphs_;
  bool profiling_ = false;
  std::vector<int64_t> step_ns_;
};

Result<Count> DeviceContext::count_of(const Dim& dim, const ContextOptions& options) {
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
gpu::Element DeviceContext::element_of(graph::ValueId id) const {
  const graph::Graph& g = graph();
  if (g.is_output(id)) return gpu::Element::kF32;
  const auto users = g.users(id);
  const bool scales_only = !users.empty() && std::ranges::all_of(users, [&](graph::NodeId n) {
    const graph::Node& user = g.node(n);
    return (user.op->name == "scale" || user.op->name == "softcap") &&
           element_of(user.outputs[0]) == gpu::Element::kF32;
  });
  return scales_only ? gpu::Element::kF32 : element_;
}

Status DeviceContext::describe(graph::ValueId id, const ContextOptions& options) {
  const graph::Value& v = graph().value(id);
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
void DeviceContext::absorb_norms() {
  const graph::Graph& g = graph();
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

Status DeviceContext::place_inputs_and_states(const ContextOptions& options) {
  int64_t bytes = 0;
  const auto place = [&](std::string name, int64_t size) {
    inputs_.push_back({.name = std::move(name), .offset = bytes, .bytes = size});
    bytes += aligned(size);
    return inputs_.back().offset;
  };
  graph::ValueId table;
  for (graph::ValueId id : graph().inputs()) {
    const graph::Value& v = graph().value(id);
    NEREID_RETURN_IF_ERROR(describe(id, options));
    if (v.type.dtype != DType::i32) return unsupported("the input '{}' is no i32", v.name);
    if (v.name == "page_table") {
      table = id;
      continue;
    }
    place(v.name, bound(slot(id).rows) * slot(id).stride * 4);
  }
  for (const char* name : {"tokens", "positions", "sequence", "output_rows"})
    if (std::ranges::none_of(inputs_, [&](const Input& in) { return in.name == name; }))
      return unsupported("the graph has no input '{}', so it is no decoder's", name);
  if (!table.valid()) return unsupported("the graph has no page_table, so it is no decoder's");
  tokens_ = static_cast<size_t>(slot(find("tokens")).rows.symbol);
  outputs_ = static_cast<size_t>(slot(find("output_rows")).rows.symbol);
  runs_offset_ = place("", (bounds_[tokens_] + 1) * 4);
  table_offset_ = place("page_table", bound(slot(table).rows) * slot(table).stride * 4);
  NEREID_TRY(host_inputs_, device_.allocate_host(bytes));
  std::memset(host_inputs_.data(), 0, static_cast<size_t>(bytes));
  NEREID_TRY(inputs_memory_, device_.allocate(bytes));
  known_table_.assign(static_cast<size_t>(inputs_.back().bytes), std::byte{0xff});
  for (const Input& in : inputs_)
    if (!in.name.empty()) slots_[static_cast<size_t>(find(in.name).v)].data = inputs_memory_.data() + in.offset;
  for (graph::ValueId id : graph().states()) {
    NEREID_RETURN_IF_ERROR(describe(id, options));
    const auto it = options.states.find(graph().value(id).name);
    if (it == options.states.end() || it->second == nullptr)
      return invalid_argument("the state '{}' has no memory", graph().value(id).name);
    slots_[static_cast<size_t>(id.v)].data = it->second;
  }
  return Status::ok();
}

// Results share one arena, as on the CPU: splits are views into what they split.
Status DeviceContext::place_results(const ContextOptions& options) {
  const graph::Graph& g = graph();
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
      PlanBuffer b{.size_bytes = aligned(bound(s.rows) * s.stride * element_bytes),
                   .first_step = step,
                   .last_step = g.is_output(id) ? end : step,
                   .alignment = kAlignment};
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

// As large as the largest value: a step needs at most one of a value's size.
Status DeviceContext::place_scratch() {
  int64_t bytes = 1;
  for (graph::NodeId n : graph().order())
    for (graph::ValueId id : graph().node(n).outputs)
      bytes = std::max(bytes, aligned(bound(slot(id).rows) * slot(id).stride * 2));
  NEREID_TRY(scratch_, device_.allocate(bytes));
  return Status::ok();
}

Status DeviceContext::place_outputs() {
  for (graph::ValueId id : graph().outputs()) {
    const DeviceSlot& s = slot(id);
    Output out{.id = id, .name = graph().value(id).name, .host = {}};
    NEREID_TRY(out.host, device_.allocate_host(std::max<int64_t>(bound(s.rows) * s.stride * 4, 4)));
    std::memset(out.host.data(), 0, static_cast<size_t>(out.host.bytes()));
    outputs_memory_.push_back(std::move(out));
  }
  return Status::ok();
}

Result<const float*> DeviceContext::rope_table(graph::ValueId positions, graph::ValueId inv_freq, double scale) {
  const auto key = std::tuple(positions.v, inv_freq.v, scale);
  if (const auto it = rope_tables_.find(key); it != rope_tables_.end()) return it->second;
  gpu::RopeTableParams p{.positions = slot(positions).i32()};
  NEREID_TRY(p.inv_freq, weights_.vector(inv_freq));
  p.rotary_dim = static_cast<int>(2 * graph().value(inv_freq).type.shape[0].size());
  p.scale = static_cast<float>(scale);
  NEREID_TRY(Memory memory, device_.allocate(bounds_[tokens_] * p.rotary_dim * 4));
  p.cos_sin = memory.as<float>();
  rope_memory_.push_back(std::move(memory));
  add("rope_table %" + graph().value(inv_freq).name,
      [p, rows = slot(positions).rows, fn = kernels_.rope_table](const RunShape& s, const gpu::Queue& q) mutable {
        p.tokens = s.sizes.of(rows);
        fn(p, q);
      });
  return rope_tables_[key] = p.cos_sin;
}

Status DeviceContext::build(const ContextOptions& options) {
  slots_.resize(graph().value_count());
  absorb_norms();
  NEREID_RETURN_IF_ERROR(place_inputs_and_states(options));
  NEREID_RETURN_IF_ERROR(place_results(options));
  NEREID_RETURN_IF_ERROR(place_scratch());
  sizes_.values = bounds_;
  for (graph::NodeId n : graph().order()) {
    const graph::Node& node = graph().node(n);
    if (node.op->name == "split" || absorbed_.contains(node.outputs[0].v)) continue;
    NEREID_RETURN_IF_ERROR(
        bind_device_node(*this, node)
            .with(fmt::format("{} %{} on {}", node.op->name, graph().value(node.outputs[0]).name, device_.info().id)));
  }
  if (linear_workspace_bytes_ > 0) {
    NEREID_TRY(linear_workspace_, device_.allocate(linear_workspace_bytes_));
  }
  step_ns_.assign(steps_.size(), 0);
  return place_outputs();
}

// Rows between what the caller wrote and the bucket's end.
void DeviceContext::pad(int64_t tokens, int64_t outputs) {
  const auto fill = [this](std::string_view name, int64_t from, int64_t to, int32_t value) {
    auto* data = reinterpret_cast<int32_t*>(input_data(name));
    std::fill(data + from, data + to, value);
  };
  const int64_t n = sizes_.values[tokens_];
  fill("tokens", n, tokens, 0);
  fill("positions", n, tokens, -1);
  fill("sequence", n, tokens, 0);
  fill("output_rows", sizes_.values[outputs_], outputs, 0);
}

Status DeviceContext::copy_page_table() {
  const std::byte* table = host_inputs_.data() + table_offset_;
  if (std::memcmp(known_table_.data(), table, known_table_.size()) == 0) return Status::ok();
  std::memcpy(known_table_.data(), table, known_table_.size());
  return device_.copy(inputs_memory_.data() + table_offset_, table, static_cast<int64_t>(known_table_.size()),
                      Direction::kToDevice, stream_);
}

// Memory of attention for the run at hand. Graphs know its address, so they go when it moves.
Status DeviceContext::reserve_workspace(int64_t tokens, int64_t max_positions) {
  int64_t bytes = 0;
  for (const AttentionKind& a : attentions_)
    bytes = std::max(bytes, kernels_.attention_workspace_bytes(tokens, a.heads, a.kv_heads, a.head_dim, max_positions));
  if (bytes <= attention_workspace_.bytes()) return Status::ok();
  NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
  graphs_.clear();
  attention_workspace_ = {};
  NEREID_TRY(attention_workspace_, device_.allocate(bytes));
  return Status::ok();
}

Status DeviceContext::launch_all(const RunShape& shape, bool brings_outputs) {
  NEREID_RETURN_IF_ERROR(
      device_.copy(inputs_memory_.data(), host_inputs_.data(), table_offset_, Direction::kToDevice, stream_));
  // The counters of attention, which begin at 0; other numbers of tokens leave other things there.
  int64_t counters = 0;
  for (const AttentionKind& a : attentions_)
    counters = std::max(counters, shape.sizes.values[tokens_] * a.kv_heads * 4);
  if (!shape.is_prefill && counters > 0)
    NEREID_RETURN_IF_ERROR(device_.fill(attention_workspace_.data(), 0, counters, stream_));
  struct Call {
    const DeviceContext* self;
    const RunShape* shape;
  } const call{this, &shape};
  const device::LaunchFn all = [](const void* raw, void* stream) {
    const Call& c = *static_cast<const Call*>(raw);
    bool overlap = false;  // the first comes behind a copy
    for (const DeviceStep& step : c.self->steps_) {
      step.launch(*c.shape, {.stream = stream, .overlap = overlap});
      overlap = true;
    }
    return c.self->kernels_.last_error();
  };
  NEREID_RETURN_IF_ERROR(device_.launch(all, &call, sizeof(call), stream_));
  return brings_outputs ? fetch(shape.sizes.values[outputs_]) : Status::ok();
}

// One step after the other, each waited for.
Status DeviceContext::launch_profiled(const RunShape& shape) {
  const RunShape* s = &shape;
  struct Call {
    const DeviceStep* step;
    const RunShape* shape;
    const gpu::KernelTable* kernels;
  };
  const device::LaunchFn one = [](const void* raw, void* stream) {
    const Call& c = *static_cast<const Call*>(raw);
    c.step->launch(*c.shape, {.stream = stream});
    return c.kernels->last_error();
  };
  NEREID_TRY(device::Event from, device_.make_event());
  NEREID_TRY(device::Event to, device_.make_event());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Call call{&steps_[i], s, &kernels_};
    NEREID_RETURN_IF_ERROR(device_.record(from, stream_));
    NEREID_RETURN_IF_ERROR(device_.launch(one, &call, sizeof(call), stream_));
    NEREID_RETURN_IF_ERROR(device_.record(to, stream_));
    NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
    NEREID_TRY(const double us, device_.elapsed_us(from, to));
    step_ns_[i] += static_cast<int64_t>(us * 1e3);
  }
  return Status::ok();
}

// The first run of a bucket is launched as it is, so that kernels are loaded outside a capture and shapes that come
// once cost no graph.
Status DeviceContext::replay(const Key& key, const RunShape& shape, bool brings_outputs) {
  if (graphs_.size() >= kMostGraphs && !graphs_.contains(key)) {
    NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
    graphs_.clear();
  }
  Captured& captured = graphs_[key];
  if (captured.uses++ == 0) return launch_all(shape, brings_outputs);
  if (!captured.graph) {
    NEREID_RETURN_IF_ERROR(device_.begin_capture(stream_));
    const Status launched = launch_all(shape, brings_outputs);
    Result<device::Graph> graph = device_.end_capture(stream_);
    NEREID_RETURN_IF_ERROR(launched);
    NEREID_TRY(captured.graph, std::move(graph));
  }
  return device_.replay(captured.graph, stream_);
}

Status DeviceContext::fetch(int64_t rows) const {
  for (const Output& out : outputs_memory_) {
    const DeviceSlot& s = slot(out.id);
    NEREID_RETURN_IF_ERROR(device_.copy(out.host.data(), s.data, rows * s.stride * 4, Direction::kToHost, stream_));
  }
  return Status::ok();
}

const float* DeviceContext::output(std::string_view name) const {
  if (!is_fetched_) {
    // An error stays with the device, and the next run tells it.
    if (fetch(sizes_.values[outputs_]).is_ok()) is_fetched_ = device_.synchronize(stream_).is_ok();
  }
  for (const Output& out : outputs_memory_)
    if (out.name == name) return out.host.as<float>();
  NEREID_CHECK(false && "no such output");
  return nullptr;
}

Status DeviceContext::run() {
  const int64_t tokens = sizes_.values[tokens_], outputs = sizes_.values[outputs_];
  is_fetched_ = true;
  if (tokens == 0) return Status::ok();
  const auto input = [&](std::string_view name) {
    return std::span(reinterpret_cast<const int32_t*>(input_data(name)), static_cast<size_t>(tokens));
  };
  find_runs(input("positions"), input("sequence"), &runs_);
  RunShape shape{.sizes = sizes_};
  shape.is_prefill = kernels_.attention_prefill != nullptr && runs_.longest > 1 && tokens > kFewRunTokens;
  const int64_t bound_positions = slot(find("page_table")).stride * page_tokens();
  shape.max_positions = position_bucket(runs_.last_position + 1, bound_positions);
  if (shape.is_prefill) {
    std::memcpy(host_inputs_.data() + runs_offset_, runs_.begin.data(), runs_.begin.size() * 4);
    shape.query_begin = reinterpret_cast<const int32_t*>(inputs_memory_.data() + runs_offset_);
    shape.blocks = runs_.count();
    shape.max_queries = runs_.longest;
  } else {
    shape.sizes.values[tokens_] = row_bucket(tokens, bounds_[tokens_]);
    shape.sizes.values[outputs_] = row_bucket(outputs, bounds_[outputs_]);
    pad(shape.sizes.values[tokens_], shape.sizes.values[outputs_]);
    NEREID_RETURN_IF_ERROR(reserve_workspace(shape.sizes.values[tokens_], shape.max_positions));
  }
  shape.attention_workspace = attention_workspace_.data();
  shape.linear_workspace = linear_workspace_.data();
  const bool brings_outputs = shape.sizes.values[outputs_] <= kOutputsWithRun;
  NEREID_RETURN_IF_ERROR(copy_page_table());
  if (profiling_) {
    NEREID_RETURN_IF_ERROR(launch_all(shape, false));  // for the inputs; then once more, step by step
    NEREID_RETURN_IF_ERROR(launch_profiled(shape));
    if (brings_outputs) NEREID_RETURN_IF_ERROR(fetch(outputs));
  } else if (shape.is_prefill) {
    NEREID_RETURN_IF_ERROR(launch_all(shape, brings_outputs));
  } else {
    const Key key{shape.sizes.values[tokens_], shape.sizes.values[outputs_], shape.max_positions};
    NEREID_RETURN_IF_ERROR(replay(key, shape, brings_outputs));
  }
  is_fetched_ = brings_outputs;
  return device_.synchronize(stream_);
}

}  // namespace

Result<std::unique_ptr<Context>> make_device_context(const DeviceParts& parts, std::shared_ptr<const Program> program,
                                                     ThreadPool& pool, const ContextOptions& options) {
  auto context = std::make_unique<DeviceContext>(parts, std::move(program), pool);
  NEREID_RETURN_IF_ERROR(context->build(options));
  return std::unique_ptr<Context>(std::move(context));
}

}  // namespace nereid::runtime
