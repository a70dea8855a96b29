// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device_context.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "runtime/device/device_drawer.h"
#include "runtime/device/device_layout.h"
#include "runtime/device/device_step.h"
#include "runtime/device/run_shape.h"

namespace nereid::runtime {
namespace {

namespace gpu = kernels::cuda;
using device::Direction;
using device::Memory;

// Outputs of so many rows come back with the run; of more when they are asked for.
constexpr int64_t kOutputsWithRun = 4;
// Graphs that are kept; beyond, all are dropped and captured anew as they come.
constexpr size_t kMostGraphs = 256;

struct AttentionKind {
  int heads, head_dim;
  bool operator==(const AttentionKind&) const = default;
};

class DeviceContext final : public Context, DeviceBinder, RowDrawer {
 public:
  DeviceContext(const DeviceParts& parts, std::shared_ptr<const Program> program, ThreadPool& pool)
      : device_(parts.device),
        kernels_(parts.kernels),
        stream_(parts.stream),
        program_(std::move(program)),
        weights_(program_, device_, kernels_, stream_, pool, parts.floats_as_f8),
        element_(activation_type(program_->graph()) == DType::bf16 ? gpu::Element::kBF16 : gpu::Element::kF16),
        layout_(device_, program_->graph(), element_),
        drawer_(device_, kernels_, stream_) {}

  Status build(const ContextOptions& options);

  // Context
  int64_t input_stride(std::string_view name) const override { return slot(find(name)).stride; }
  int64_t output_stride(std::string_view name) const override { return slot(find(name)).stride; }
  const float* output(std::string_view name) const override;
  int symbol(std::string_view name) const override {
    for (size_t i = 0; i < layout_.symbols().size(); ++i)
      if (layout_.symbols()[i] == name) return static_cast<int>(i);
    NEREID_CHECK(false && "no such symbol");
    return -1;
  }
  void set_size(int symbol, int64_t value) override {
    const auto i = static_cast<size_t>(symbol);
    NEREID_CHECK(i < layout_.bounds().size() && value >= 0 && value <= layout_.bounds()[i]);
    sizes_.values[i] = value;
  }
  void set_adapters(int, std::span<const AdapterRows> groups) override { NEREID_CHECK(groups.empty()); }
  bool takes_adapter(graph::ValueId) const override { return false; }
  Status run() override;
  RowDrawer* drawer() override { return kernels_.draw_rows != nullptr ? this : nullptr; }

  // RowDrawer
  Status start() override { return begin(false); }
  Status draw(const DrawRequest& request) override;
  Status finish() override { return device_.synchronize(stream_); }
  DrawnRows drawn() const override { return drawer_.drawn(); }
  Status bring(std::span<const int32_t> rows) override;

  const std::vector<std::string>& notes() const override { return notes_; }
  int64_t arena_bytes() const override {
    return layout_.arena_bytes() + attention_workspace_.bytes() + linear_workspace_.bytes();
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
  const DeviceSlot& slot(graph::ValueId id) const override { return layout_.slot(id); }
  int64_t bound(Count c) const override { return layout_.bound(c); }
  Result<std::byte*> scratch(int64_t bytes) override {
    if (bytes > scratch_.bytes()) return internal("scratch of {} bytes was not foreseen", bytes);
    return scratch_.data();
  }
  Result<const float*> rope_table(graph::ValueId positions, graph::ValueId inv_freq, double scale) override;
  const graph::Node* absorbed_norm(graph::ValueId id) const override { return layout_.absorbed_norm(id); }
  void want_attention(int heads, int head_dim) override {
    const AttentionKind kind{heads, head_dim};
    if (std::ranges::find(attentions_, kind) == attentions_.end()) attentions_.push_back(kind);
  }
  void want_linear(const gpu::Weight& weight, bool gated) override {
    linear_workspace_bytes_ = std::max(
        linear_workspace_bytes_, kernels_.linear_workspace_bytes(weight, gated, layout_.bounds()[layout_.tokens()]));
  }
  void add(std::string label, std::function<void(const RunShape&, const gpu::Queue&)> launch) override {
    steps_.push_back({std::move(label), std::move(launch)});
  }

 private:
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

  graph::ValueId find(std::string_view name) const {
    const graph::ValueId id = program_->graph().find_value(name);
    NEREID_CHECK(id.valid());
    return id;
  }
  std::byte* input_data(std::string_view name) override { return layout_.host_input(name); }

  Status place_scratch();
  Status place_outputs();

  void pad(int64_t tokens, int64_t outputs);
  Status copy_page_table();
  Status reserve_workspace(int64_t tokens, int64_t max_positions);
  Status begin(bool brings_outputs);
  Status launch_all(const RunShape& shape);
  Status launch_profiled(const RunShape& shape);
  Status replay(const Key& key, const RunShape& shape);
  Status fetch(int64_t rows) const;

  device::Device& device_;
  const gpu::KernelTable& kernels_;
  device::Stream& stream_;
  std::shared_ptr<const Program> program_;
  DeviceWeights weights_;
  const gpu::Element element_;
  DeviceLayout layout_;
  DeviceDrawer drawer_;
  Sizes sizes_;
  std::vector<DeviceStep> steps_;
  std::vector<std::string> notes_;

  std::vector<std::byte> known_table_;  // as it is on the device
  Memory scratch_, attention_workspace_, linear_workspace_;
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

// As large as the largest value: a step needs at most one of a value's size.
Status DeviceContext::place_scratch() {
  int64_t bytes = 1;
  for (graph::NodeId n : graph().order())
    for (graph::ValueId id : graph().node(n).outputs)
      bytes = std::max(bytes, device_aligned(bound(slot(id).rows) * slot(id).stride * 2));
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
  NEREID_TRY(Memory memory, device_.allocate(layout_.bounds()[layout_.tokens()] * p.rotary_dim * 4));
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
  NEREID_RETURN_IF_ERROR(layout_.build(options));
  NEREID_RETURN_IF_ERROR(place_scratch());
  known_table_.assign(static_cast<size_t>(layout_.table_bytes()), std::byte{0xff});
  sizes_.values = layout_.bounds();
  for (graph::NodeId n : graph().order()) {
    const graph::Node& node = graph().node(n);
    if (node.op->name == "split" || absorbed_norm(node.outputs[0]) != nullptr) continue;
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
  const int64_t n = sizes_.values[layout_.tokens()];
  fill("tokens", n, tokens, 0);
  fill("positions", n, tokens, -1);
  fill("sequence", n, tokens, 0);
  fill("output_rows", sizes_.values[layout_.outputs()], outputs, 0);
}

Status DeviceContext::copy_page_table() {
  const std::byte* table = layout_.host_inputs() + layout_.table_offset();
  if (std::memcmp(known_table_.data(), table, known_table_.size()) == 0) return Status::ok();
  std::memcpy(known_table_.data(), table, known_table_.size());
  return device_.copy(layout_.inputs() + layout_.table_offset(), table, static_cast<int64_t>(known_table_.size()),
                      Direction::kToDevice, stream_);
}

// Memory of attention for the run at hand. Graphs know its address, so they go when it moves.
Status DeviceContext::reserve_workspace(int64_t tokens, int64_t max_positions) {
  int64_t bytes = 0;
  for (const AttentionKind& a : attentions_)
    bytes = std::max(bytes, kernels_.attention_workspace_bytes(tokens, a.heads, a.head_dim, max_positions));
  if (bytes <= attention_workspace_.bytes()) return Status::ok();
  NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
  graphs_.clear();
  attention_workspace_ = {};
  NEREID_TRY(attention_workspace_, device_.allocate(bytes));
  return Status::ok();
}

Status DeviceContext::launch_all(const RunShape& shape) {
  NEREID_RETURN_IF_ERROR(
      device_.copy(layout_.inputs(), layout_.host_inputs(), layout_.table_offset(), Direction::kToDevice, stream_));
  // The counters of attention, which begin at 0; other numbers of tokens leave other things there.
  int64_t counters = 0;
  for (const AttentionKind& a : attentions_)
    counters = std::max(counters, shape.sizes.values[layout_.tokens()] * a.heads * 4);
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
  return device_.launch(all, &call, sizeof(call), stream_);
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
Status DeviceContext::replay(const Key& key, const RunShape& shape) {
  if (graphs_.size() >= kMostGraphs && !graphs_.contains(key)) {
    NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
    graphs_.clear();
  }
  Captured& captured = graphs_[key];
  if (captured.uses++ == 0) return launch_all(shape);
  if (!captured.graph) {
    NEREID_RETURN_IF_ERROR(device_.begin_capture(stream_));
    const Status launched = launch_all(shape);
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
    if (fetch(sizes_.values[layout_.outputs()]).is_ok()) is_fetched_ = device_.synchronize(stream_).is_ok();
  }
  for (const Output& out : outputs_memory_)
    if (out.name == name) return out.host.as<float>();
  NEREID_CHECK(false && "no such output");
  return nullptr;
}

Status DeviceContext::bring(std::span<const int32_t> rows) {
  if (is_fetched_ || rows.empty()) return Status::ok();
  for (const Output& out : outputs_memory_) {
    if (out.name != "logits") continue;
    const DeviceSlot& s = slot(out.id);
    const int64_t bytes = s.stride * 4;
    // Rows that lie side by side come together.
    for (size_t i = 0, next = 0; i < rows.size(); i = next) {
      for (next = i + 1; next < rows.size() && rows[next] == rows[next - 1] + 1;) ++next;
      const int64_t at = rows[i] * bytes;
      NEREID_RETURN_IF_ERROR(device_.copy(out.host.data() + at, s.data + at, bytes * static_cast<int64_t>(next - i),
                                          Direction::kToHost, stream_));
    }
  }
  NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
  is_fetched_ = true;  // as far as anybody will look
  return Status::ok();
}

Status DeviceContext::draw(const DrawRequest& request) {
  const graph::ValueId id = find("logits");
  const DeviceSlot& s = slot(id);
  return drawer_.draw(request, reinterpret_cast<float*>(s.data), s.stride,
                      graph().value(id).type.shape.dims().back().size());
}

Status DeviceContext::run() {
  NEREID_RETURN_IF_ERROR(begin(sizes_.values[layout_.outputs()] <= kOutputsWithRun));
  return device_.synchronize(stream_);
}

Status DeviceContext::begin(bool brings_outputs) {
  const int64_t tokens = sizes_.values[layout_.tokens()], outputs = sizes_.values[layout_.outputs()];
  is_fetched_ = true;
  if (tokens == 0) return Status::ok();
  const auto input = [&](std::string_view name) {
    return std::span(reinterpret_cast<const int32_t*>(input_data(name)), static_cast<size_t>(tokens));
  };
  find_runs(input("positions"), input("sequence"), &runs_);
  RunShape shape{.sizes = sizes_};
  shape.is_prefill = kernels_.attention_prefill != nullptr && runs_.longest > 1 && tokens > kFewRunTokens;
  const int64_t bound_positions = slot(find("page_table")).stride * layout_.page_tokens();
  shape.max_positions = position_bucket(runs_.last_position + 1, bound_positions);
  if (shape.is_prefill) {
    std::memcpy(layout_.host_inputs() + layout_.runs_offset(), runs_.begin.data(), runs_.begin.size() * 4);
    shape.query_begin = reinterpret_cast<const int32_t*>(layout_.inputs() + layout_.runs_offset());
    shape.blocks = runs_.count();
    shape.max_queries = runs_.longest;
  } else {
    shape.sizes.values[layout_.tokens()] = row_bucket(tokens, layout_.bounds()[layout_.tokens()]);
    shape.sizes.values[layout_.outputs()] = row_bucket(outputs, layout_.bounds()[layout_.outputs()]);
    pad(shape.sizes.values[layout_.tokens()], shape.sizes.values[layout_.outputs()]);
    NEREID_RETURN_IF_ERROR(reserve_workspace(shape.sizes.values[layout_.tokens()], shape.max_positions));
  }
  shape.attention_workspace = attention_workspace_.data();
  shape.linear_workspace = linear_workspace_.data();
  NEREID_RETURN_IF_ERROR(copy_page_table());
  if (profiling_) {
    NEREID_RETURN_IF_ERROR(launch_all(shape));  // for the inputs; then once more, step by step
    NEREID_RETURN_IF_ERROR(launch_profiled(shape));
  } else if (shape.is_prefill) {
    NEREID_RETURN_IF_ERROR(launch_all(shape));
  } else {
    const Key key{shape.sizes.values[layout_.tokens()], shape.sizes.values[layout_.outputs()], shape.max_positions};
    NEREID_RETURN_IF_ERROR(replay(key, shape));
  }
  is_fetched_ = brings_outputs;
  return brings_outputs ? fetch(outputs) : Status::ok();
}

}  // namespace

Result<std::unique_ptr<Context>> make_device_context(const DeviceParts& parts, std::shared_ptr<const Program> program,
                                                     ThreadPool& pool, const ContextOptions& options) {
  auto context = std::make_unique<DeviceContext>(parts, std::move(program), pool);
  NEREID_RETURN_IF_ERROR(context->build(options));
  return std::unique_ptr<Context>(std::move(context));
}

}  // namespace nereid::runtime
