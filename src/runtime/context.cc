// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <algorithm>
#include <tuple>

#include "base/clock.h"
#include "runtime/bind.h"
#include "runtime/memory_plan.h"

namespace nereid::runtime {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kMaxElements = int64_t{1} << 44;  // of a value: no size in bytes made of it overflows
int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Impl final : BindContext {
  std::shared_ptr<const Program> program_;
  ThreadPool* pool = nullptr;
  std::vector<std::string> symbols;
  Sizes sizes;
  std::vector<int64_t> bounds;  // by symbol
  std::vector<Slot> slots;      // by value id; data null for packed constants and dead values
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<std::string> notes;
  std::vector<Buffer> memory;
  Buffer scratch;
  int64_t scratch_bytes = 0;
  std::vector<std::byte**> scratch_users;
  std::map<std::tuple<int32_t, int32_t, double>, const float*> rope_tables;
  std::vector<std::unique_ptr<AdapterGroups>> adapter_groups;  // by symbol; made where a step wants them
  std::vector<graph::ValueId> adapted;                         // weights of those steps
  AdapterGroups no_adapters;
  bool profiling = false;
  std::vector<int64_t> step_ns;

  // BindContext
  const Program& program() const override { return *program_; }
  const Slot& slot(graph::ValueId id) const override { return slots[static_cast<size_t>(id.v)]; }
  int workers() const override { return pool->size(); }
  int64_t bound(Count c) const override { return c.symbol < 0 ? c.constant : bounds[static_cast<size_t>(c.symbol)]; }
  void want_scratch(int64_t bytes, std::byte** where) override {
    scratch_bytes = std::max(scratch_bytes, bytes);
    scratch_users.push_back(where);
  }
  Result<const float*> rope_table(graph::ValueId positions, graph::ValueId inv_freq, double scale) override {
    const auto key = std::tuple(positions.v, inv_freq.v, scale);
    if (const auto it = rope_tables.find(key); it != rope_tables.end()) return it->second;
    const float* frequencies = program_->f32_constant(inv_freq);
    if (!frequencies) return unsupported("the rope frequencies are no f32 constant");
    const Slot& p = slot(positions);
    const int rotary_dim = static_cast<int>(2 * value(inv_freq).type.shape[0].size());
    NEREID_TRY(std::byte * data, allocate(bound(p.rows) * rotary_dim * 4));
    auto* table = reinterpret_cast<float*>(data);
    kernels::RopeTableParams params{.positions = p.i32(),
                                    .inv_freq = frequencies,
                                    .rotary_dim = rotary_dim,
                                    .scale = static_cast<float>(scale),
                                    .cos_sin = table};
    auto step = std::make_unique<KernelStep<kernels::RopeTableParams>>(program_->kernels().rope_table, params,
                                                                       &kernels::RopeTableParams::tokens, p.rows);
    step->label = "rope_table %" + value(inv_freq).name;
    steps.push_back(std::move(step));
    return rope_tables[key] = table;
  }

  const AdapterGroups& adapters(Count rows, std::span<const graph::ValueId> weights) override {
    if (rows.symbol < 0) return no_adapters;
    adapted.insert(adapted.end(), weights.begin(), weights.end());
    return groups_of(rows.symbol);
  }
  AdapterGroups& groups_of(int symbol) {
    adapter_groups.resize(symbols.size());
    std::unique_ptr<AdapterGroups>& groups = adapter_groups[static_cast<size_t>(symbol)];
    if (!groups) groups = std::make_unique<AdapterGroups>();
    return *groups;
  }

  Result<std::byte*> allocate(int64_t bytes) {
    NEREID_TRY(Buffer b, Buffer::allocate(static_cast<size_t>(std::max<int64_t>(bytes, 1)),
                                          bytes >= (8 << 20) ? PageSize::kHuge : PageSize::kDefault));
    memory.push_back(std::move(b));
    return memory.back().data();
  }

  Result<Count> count_of(const Dim& dim, const ContextOptions& options) {
    if (dim.is_static()) return Count{-1, dim.size()};
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i] == dim.symbol()) return Count{static_cast<int>(i), 0};
    const auto it = options.bounds.find(dim.symbol());
    if (it == options.bounds.end())
      return invalid_argument("the symbolic dimension '{}' has no bound; give its largest value", dim.symbol());
    constexpr int64_t kMaxBound = int64_t{1} << 31;
    if (it->second < 1 || it->second > kMaxBound)
      return invalid_argument("the bound of '{}' is {} and should be between 1 and {}", dim.symbol(), it->second,
                              kMaxBound);
    symbols.push_back(dim.symbol());
    bounds.push_back(it->second);
    return Count{static_cast<int>(symbols.size()) - 1, 0};
  }

  // Shape of a value as a slot: all but the last dimension are rows.
  Status describe(graph::ValueId id, const ContextOptions& options) {
    const graph::Value& v = value(id);
    Slot& s = slots[static_cast<size_t>(id.v)];
    s.dtype = v.type.dtype;
    for (const Dim& d : v.type.shape.dims()) {
      NEREID_TRY(Count c, count_of(d, options).with("value '" + v.name + "'"));
      s.dims.push_back(c);
    }
    const int rank = v.type.shape.rank();
    s.cols = rank ? bound(s.dims.back()) : 1;
    s.stride = s.cols;
    if (rank == 1) {  // a vector: one element a row
      s.cols = s.stride = 1;
      s.rows = s.dims[0];
    } else if (rank == 2) {
      s.rows = s.dims[0];
    }
    int64_t rows = 1, elements = s.cols;
    bool fits = true;
    for (int i = 0; i + 1 < rank; ++i)
      fits &= !__builtin_mul_overflow(rows, bound(s.dims[static_cast<size_t>(i)]), &rows);
    if (rank == 1) rows = bound(s.rows);
    fits &= !__builtin_mul_overflow(elements, rows, &elements) && elements <= kMaxElements;
    if (!fits)
      return exhausted("the value '{}' of type {} is too large with the bounds given", v.name, v.type.to_string());
    if (rank == 0 || rank > 2) s.rows = {-1, rows};
    return Status::ok();
  }

  int64_t slot_bytes(const Slot& s) const {
    int64_t elements = bound(s.rows) * s.stride;
    return aligned(*dtype_bytes(s.dtype, elements) + kAlignment);
  }

  // The split whose results are views into its source.
  bool is_view(const graph::Node& node) const {
    const graph::Value& source = value(node.inputs[0]);
    return node.op->name == "split" && source.type.shape.rank() == 2 && source.kind == graph::Value::Kind::kResult;
  }

  Status place_inputs_and_states(const ContextOptions& options) {
    for (graph::ValueId id : graph().inputs()) {
      NEREID_RETURN_IF_ERROR(describe(id, options));
      NEREID_TRY(slots[static_cast<size_t>(id.v)].data, allocate(slot_bytes(slot(id))));
    }
    for (graph::ValueId id : graph().states()) {
      NEREID_RETURN_IF_ERROR(describe(id, options));
      const auto it = options.states.find(value(id).name);
      if (it == options.states.end() || !it->second)
        return invalid_argument("the state '{}' has no memory", value(id).name);
      slots[static_cast<size_t>(id.v)].data = it->second;
    }
    return Status::ok();
  }

  // Constants that are not packed are operands like any other; nothing writes to them.
  Status place_constants(const ContextOptions& options) {
    for (graph::ValueId id : graph().constants()) {
      const Weight* weight = program_->weight(id);
      const graph::ConstantData& own = value(id).data;
      const void* data = weight ? weight->data : own.parts.size() == 1 ? own.parts[0].data : nullptr;
      if ((weight && weight->is_packed) || !data) continue;
      NEREID_RETURN_IF_ERROR(describe(id, options));
      slots[static_cast<size_t>(id.v)].data = static_cast<std::byte*>(const_cast<void*>(data));
    }
    return Status::ok();
  }

  // Results share one arena: those that live at the same time apart, the others on top of each other.
  Status place_results(const ContextOptions& options) {
    const graph::Graph& g = graph();
    std::vector<PlanBuffer> buffers;
    std::vector<int32_t> buffer_of(g.value_count(), -1);
    const auto end = static_cast<int32_t>(g.order().size());
    for (int32_t step = 0; step < end; ++step) {
      const graph::Node& node = g.node(g.order()[static_cast<size_t>(step)]);
      for (graph::ValueId id : node.inputs)
        if (id.valid() && buffer_of[static_cast<size_t>(id.v)] >= 0) {
          PlanBuffer& b = buffers[static_cast<size_t>(buffer_of[static_cast<size_t>(id.v)])];
          b.last_step = std::max(b.last_step, step);  // an output stays to the end
        }
      int64_t column = 0;
      for (graph::ValueId id : node.outputs) {
        NEREID_RETURN_IF_ERROR(describe(id, options));
        Slot& s = slots[static_cast<size_t>(id.v)];
        PlanBuffer b{.size_bytes = slot_bytes(s), .first_step = step, .last_step = g.is_output(id) ? end : step};
        if (is_view(node)) {
          const graph::ValueId source = node.inputs[0];
          b.view_of = buffer_of[static_cast<size_t>(source.v)];
          b.view_offset = column * dtype_info(s.dtype).block_bytes;
          b.size_bytes = buffers[static_cast<size_t>(b.view_of)].size_bytes - b.view_offset;
          b.alignment = 4;
          s.stride = slot(source).stride;
          column += s.cols;
        }
        buffer_of[static_cast<size_t>(id.v)] = static_cast<int32_t>(buffers.size());
        buffers.push_back(b);
      }
    }
    NEREID_TRY(const MemoryPlan plan, plan_memory(buffers));
    NEREID_TRY(std::byte * arena, allocate(plan.arena_bytes));
    for (size_t v = 0; v < buffer_of.size(); ++v)
      if (buffer_of[v] >= 0) slots[v].data = arena + plan.offsets[static_cast<size_t>(buffer_of[v])];
    return Status::ok();
  }

  Result<std::unique_ptr<Step>> bind(const graph::Node& node) {
    for (const BindRow& row : bind_table()) {
      if (row.op != node.op->name) continue;
      Result<std::unique_ptr<Step>> step = row.bind(*this, node);
      if (step.is_ok() || step.status().code() != StatusCode::kUnsupported) return step;
      notes.push_back(fmt::format("{} runs on its reference evaluator: {}", node.op->name, step.status().message()));
      return bind_reference(*this, node);
    }
    notes.push_back(fmt::format("{} runs on its reference evaluator: there is no kernel for it", node.op->name));
    return bind_reference(*this, node);
  }

  Status build(const ContextOptions& options) {
    slots.resize(graph().value_count());
    NEREID_RETURN_IF_ERROR(place_inputs_and_states(options));
    NEREID_RETURN_IF_ERROR(place_constants(options));
    NEREID_RETURN_IF_ERROR(place_results(options));
    sizes.values = bounds;
    for (graph::NodeId n : graph().order()) {
      const graph::Node& node = graph().node(n);
      if (is_view(node)) continue;
      NEREID_TRY(std::unique_ptr<Step> step, bind(node).with("node %" + value(node.outputs[0]).name));
      step->label = fmt::format("{} %{}", node.op->name, value(node.outputs[0]).name);
      steps.push_back(std::move(step));
    }
    std::sort(notes.begin(), notes.end());
    notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
    NEREID_TRY(scratch, Buffer::allocate(static_cast<size_t>(std::max<int64_t>(scratch_bytes, 64))));
    for (std::byte** where : scratch_users) *where = scratch.data();
    step_ns.assign(steps.size(), 0);
    return Status::ok();
  }
};

class HostContext final : public Context {
 public:
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Program> program, ThreadPool& pool,
                                                 const ContextOptions& options) {
    auto context = std::make_unique<HostContext>();
    context->impl_.program_ = std::move(program);
    context->impl_.pool = &pool;
    NEREID_RETURN_IF_ERROR(context->impl_.build(options));
    return std::unique_ptr<Context>(std::move(context));
  }

  int64_t input_stride(std::string_view name) const override {
    const graph::ValueId id = impl_.graph().find_value(name);
    NEREID_CHECK(id.valid());
    return impl_.slot(id).stride;
  }
  const float* output(std::string_view name) const override {
    const graph::ValueId id = impl_.graph().find_value(name);
    NEREID_CHECK(id.valid() && impl_.graph().is_output(id));
    return impl_.slot(id).f32();
  }
  int64_t output_stride(std::string_view name) const override { return input_stride(name); }

  int symbol(std::string_view name) const override {
    for (size_t i = 0; i < impl_.symbols.size(); ++i)
      if (impl_.symbols[i] == name) return static_cast<int>(i);
    NEREID_CHECK(false && "no such symbol");
    return -1;
  }
  void set_size(int symbol, int64_t value) override {
    const auto i = static_cast<size_t>(symbol);
    NEREID_CHECK(i < impl_.bounds.size() && value >= 0 && value <= impl_.bounds[i]);
    impl_.sizes.values[i] = value;
  }
  void set_adapters(int symbol, std::span<const AdapterRows> groups) override {
    const auto i = static_cast<size_t>(symbol);
    NEREID_CHECK(i < impl_.bounds.size());
    for (const AdapterRows& group : groups)
      for (int32_t row : group.rows) NEREID_CHECK(row >= 0 && row < impl_.bounds[i]);
    impl_.groups_of(symbol).assign(groups.begin(), groups.end());
  }
  bool takes_adapter(graph::ValueId weight) const override {
    const std::vector<graph::ValueId>& all = impl_.adapted;
    return std::find(all.begin(), all.end(), weight) != all.end();
  }

  Status run() override {
    for (auto& step : impl_.steps) step->resize(impl_.sizes);
    if (!impl_.profiling) {
      impl_.pool->run([this](Worker& w) {
        for (auto& step : impl_.steps) {
          step->run(w);
          w.barrier();
        }
      });
      return Status::ok();
    }
    impl_.pool->run([this](Worker& w) {
      for (size_t i = 0; i < impl_.steps.size(); ++i) {
        const int64_t start = now_ns();
        impl_.steps[i]->run(w);
        w.barrier();
        if (w.index() == 0) impl_.step_ns[i] += now_ns() - start;
      }
    });
    return Status::ok();
  }

  const std::vector<std::string>& notes() const override { return impl_.notes; }
  int64_t arena_bytes() const override {
    int64_t total = static_cast<int64_t>(impl_.scratch.size());
    for (const Buffer& b : impl_.memory) total += static_cast<int64_t>(b.size());
    return total;
  }
  void set_profiling(bool on) override { impl_.profiling = on; }
  std::vector<std::pair<std::string, int64_t>> profile() const override {
    std::vector<std::pair<std::string, int64_t>> out;
    for (size_t i = 0; i < impl_.steps.size(); ++i) out.emplace_back(impl_.steps[i]->label, impl_.step_ns[i]);
    return out;
  }

 private:
  std::byte* input_data(std::string_view name) override {
    const graph::ValueId id = impl_.graph().find_value(name);
    NEREID_CHECK(id.valid() && impl_.value(id).kind == graph::Value::Kind::kInput);
    return impl_.slot(id).data;
  }
  Impl impl_;
};

}  // namespace

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Program> program, ThreadPool& pool,
                                                 const ContextOptions& options) {
  return HostContext::create(std::move(program), pool, options);
}

}  // namespace nereid::runtime
