// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/plan.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ops/run.h"
#include "runtime/memory_plan.h"
#include "runtime/net/binder.h"
#include "runtime/net/reference_step.h"

namespace nereid::runtime {
namespace {

constexpr int64_t kMostPeeked = 1024;     // elements of a value whose numbers a plan may hang on
constexpr int64_t kMostFolded = 4 << 20;  // bytes that a plan keeps of one computed value
constexpr int64_t kMostBytes = int64_t{1} << 40;
constexpr int64_t kAlignment = 64;

// Ops whose result is their first input under other sizes.
bool is_alias(const ops::OpDef& op) {
  static constexpr std::string_view kAliases[] = {"reshape_to", "reshape",   "flatten",
                                                  "squeeze",    "unsqueeze", "identity"};
  return std::ranges::find(kAliases, op.name) != std::end(kAliases);
}

class Planner final : public NetBinder {
 public:
  explicit Planner(const PlanRequest& request)
      : request_(request), plan_(std::make_unique<Plan>()), values_(request.graph.value_count()) {
    plan_->begin = request.begin;
  }

  Result<std::unique_ptr<Plan>> make() {
    const auto& order = graph().order();
    size_t at = request_.begin;
    for (; at < order.size(); ++at) {
      NEREID_TRY(const Outcome outcome, place(order[at], static_cast<int32_t>(at)));
      if (outcome == Outcome::kCut) break;
      if (outcome == Outcome::kDynamic) {
        plan_->ends_dynamic = true;
        ++at;
        break;
      }
    }
    plan_->end = at;
    NEREID_RETURN_IF_ERROR(allocate());
    find_outputs();
    NEREID_RETURN_IF_ERROR(bind_steps());
    return std::move(plan_);
  }

  // NetBinder
  const Network& network() const override { return request_.network; }
  int workers() const override { return request_.workers; }
  const ops::TensorType& type(graph::ValueId id) const override { return values_[index(id)].type; }
  const void* constant(graph::ValueId id) const override {
    if (!id.valid()) return nullptr;
    const Local& v = values_[index(id)];
    return v.kind == Local::Kind::kKnown && v.is_network_constant ? v.data : nullptr;
  }
  const void* known(graph::ValueId id) const override {
    if (!id.valid()) return nullptr;
    if (values_[index(id)].kind == Local::Kind::kKnown) return values_[index(id)].data;
    for (const Plan::Peeked& p : plan_->peeked)
      if (p.id == resolve(id)) return std::as_const(p.value).view().data;
    return nullptr;
  }
  void point(graph::ValueId id, void* field, int64_t offset) override { pointers_.push_back({id, field, offset}); }
  Status& error() override { return plan_->error; }
  void want_scratch(int64_t bytes, std::byte** field) override {
    scratch_fields_.push_back({field, step_scratch_});
    step_scratch_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    scratch_bytes_ = std::max(scratch_bytes_, step_scratch_);
  }

 private:
  enum class Outcome { kGoOn, kCut, kDynamic };
  struct Local {
    enum class Kind : uint8_t { kNone, kKnown, kExternal, kArena };
    Kind kind = Kind::kNone;
    ops::TensorType type;
    const void* data = nullptr;        // kKnown
    bool is_network_constant = false;  // kKnown: the same in every plan
    int32_t buffer = -1;               // kArena
    graph::ValueId alias_of;           // of an external or known value: its address is that one's
  };
  struct Pending {
    graph::NodeId node;
  };

  static size_t index(graph::ValueId id) { return static_cast<size_t>(id.v); }
  const graph::Graph& graph() const { return request_.graph; }

  // Looks a value up that stands before the plan's nodes.
  Local& local(graph::ValueId id) {
    Local& v = values_[index(id)];
    if (v.kind != Local::Kind::kNone) return v;
    const NetValue& outside = request_.values[index(id)];
    if (outside.kind == NetValue::Kind::kConstant) {
      v.kind = Local::Kind::kKnown;
      v.type = outside.type;
      v.data = outside.data;
      v.is_network_constant = true;
      return v;
    }
    v.kind = Local::Kind::kExternal;
    v.type = outside.type;
    plan_->externals.push_back({id, outside.type, outside.kind == NetValue::Kind::kTensor});
    return v;
  }
  bool is_plain(graph::ValueId id) {
    Local& v = local(id);
    return v.kind != Local::Kind::kExternal || request_.values[index(resolve(id))].kind == NetValue::Kind::kTensor;
  }
  graph::ValueId resolve(graph::ValueId id) const {
    while (values_[index(id)].alias_of.valid()) id = values_[index(id)].alias_of;
    return id;
  }

  // The numbers of an external value, on which the plan hangs from then on.
  const void* peek(graph::ValueId id) {
    const graph::ValueId source = resolve(id);
    const NetValue& outside = request_.values[index(source)];
    if (outside.kind != NetValue::Kind::kTensor || !outside.type.shape.is_static()) return nullptr;
    const int64_t elements = *outside.type.shape.elements();
    if (elements > kMostPeeked || outside.type.dtype == DType::string) return nullptr;
    for (const Plan::Peeked& p : plan_->peeked)
      if (p.id == source) return std::as_const(p.value).view().data;
    plan_->peeked.push_back({source, ops::Tensor::copy(outside.view())});
    return std::as_const(plan_->peeked.back().value).view().data;
  }

  struct Inputs {
    std::vector<const ops::TensorType*> types;
    std::vector<ConstTensorView> views;  // data null where not known
    std::vector<const ConstTensorView*> constants;
    bool all_known = true;
    bool all_plain = true;
  };
  Inputs gather(const graph::Node& node, bool peeking) {
    Inputs in;
    in.views.resize(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const graph::ValueId id = node.inputs[i];
      in.types.push_back(nullptr);
      in.constants.push_back(nullptr);
      if (!id.valid()) continue;
      in.all_plain = in.all_plain && is_plain(id);
      const Local& v = local(id);
      in.types.back() = &v.type;
      const void* data = v.kind == Local::Kind::kKnown ? v.data : nullptr;
      if (data == nullptr && peeking && v.kind == Local::Kind::kExternal) data = peek(id);
      if (data == nullptr) {
        in.all_known = false;
        continue;
      }
      in.views[i] = {data, v.type.dtype, v.type.shape.sizes()};
      in.constants.back() = &in.views[i];
    }
    return in;
  }

  static bool sized(const std::vector<ops::TensorType>& types) {
    return std::ranges::all_of(types, [](const ops::TensorType& t) { return t.is_tensor() && t.shape.is_static(); });
  }

  Result<Outcome> place(graph::NodeId id, int32_t at) {
    const graph::Node& node = graph().node(id);
    const std::string where = fmt::format(
        "{} %{}", node.op->name, node.outputs.empty() ? std::string("?") : graph().value(node.outputs[0]).name);
    Inputs in = gather(node, false);
    const bool sizable = node.op->evaluate != nullptr || is_alias(*node.op);
    if (!in.all_plain || !node.regions.empty() || !sizable) return Outcome::kDynamic;
    const auto infer = [&](const Inputs& with) {
      return ops::infer_types(*node.op, {.inputs = with.types, .constants = with.constants, .attrs = node.attrs},
                              node.outputs.size());
    };
    NEREID_TRY(std::vector<ops::TensorType> types, infer(in).with(where));
    if (!sized(types)) {
      in = gather(node, true);
      NEREID_TRY(types, infer(in).with(where));
      // What is missing is computed by this plan's own steps: the next plan will see it.
      if (!sized(types)) {
        if (at == static_cast<int32_t>(request_.begin)) return Outcome::kDynamic;
        return Outcome::kCut;
      }
    }
    for (const ops::TensorType& t : types) {
      const auto bytes = dtype_bytes(t.dtype, t.shape.elements().value_or(-1));
      if (!bytes || *bytes > kMostBytes)
        return invalid_argument("{}: a result of type {} is larger than 1 TiB", where, t.to_string());
    }
    if (fold(node, in, types)) return Outcome::kGoOn;
    return place_step(id, node, types, at);
  }

  // Computes a node whose inputs are known now, if its results are small.
  bool fold(const graph::Node& node, Inputs& in, const std::vector<ops::TensorType>& types) {
    if (node.op->is_random) return false;
    if (!in.all_known) {
      if (!node.op->of_sizes) return false;
      static const std::byte kNothing[16] = {};
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (in.types[i] != nullptr && in.constants[i] == nullptr)
          in.views[i] = {kNothing, in.types[i]->dtype, in.types[i]->shape.sizes()};
    }
    for (const ops::TensorType& t : types)
      if (t.dtype == DType::string || *dtype_bytes(t.dtype, *t.shape.elements()) > kMostFolded) return false;
    auto results = ops::run(*node.op, in.views, {}, node.attrs);
    if (!results.is_ok()) return false;  // the run will say it
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      plan_->folded.push_back(std::move((*results)[i]));
      Local& v = values_[index(node.outputs[i])];
      v.kind = Local::Kind::kKnown;
      v.type = types[i];
      v.data = std::as_const(plan_->folded.back()).view().data;
    }
    return true;
  }

  Result<Outcome> place_step(graph::NodeId id, const graph::Node& node, const std::vector<ops::TensorType>& types,
                             int32_t at) {
    for (graph::ValueId in : node.inputs)
      if (in.valid()) touch(in, at);
    if (is_alias(*node.op)) {
      Local& v = values_[index(node.outputs[0])];
      const graph::ValueId source = resolve(node.inputs[0]);
      const Local& s = values_[index(source)];
      v.type = types[0];
      v.kind = s.kind;
      v.data = s.data;
      v.is_network_constant = s.is_network_constant;
      v.buffer = s.buffer;
      if (s.kind != Local::Kind::kArena) v.alias_of = source;
      if (graph().is_output(node.outputs[0])) touch(node.outputs[0], INT32_MAX);
      return Outcome::kGoOn;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Local& v = values_[index(node.outputs[i])];
      v.kind = Local::Kind::kArena;
      v.type = types[i];
      v.buffer = static_cast<int32_t>(buffers_.size());
      const int64_t bytes = types[i].dtype == DType::string
                                ? *types[i].shape.elements() * static_cast<int64_t>(sizeof(std::string))
                                : *dtype_bytes(types[i].dtype, *types[i].shape.elements());
      buffers_.push_back({.size_bytes = bytes + kAlignment, .first_step = at, .last_step = at});
      // What is read after this plan, or leaves the graph, stays to the end.
      if (escapes(node.outputs[i])) touch(node.outputs[i], INT32_MAX);
    }
    if (std::ranges::any_of(types, [](const ops::TensorType& t) { return t.dtype == DType::string; }))
      return unsupported_strings(node);
    pending_.push_back({id});
    return Outcome::kGoOn;
  }
  Outcome unsupported_strings(const graph::Node& node) {
    // Strings are objects; they are made by evaluators that own them.
    for (graph::ValueId out : node.outputs) values_[index(out)] = {};
    buffers_.resize(buffers_.size() - node.outputs.size());
    return Outcome::kDynamic;
  }
  bool escapes(graph::ValueId id) const { return graph().is_output(id); }
  void touch(graph::ValueId id, int32_t at) {
    const Local& v = values_[index(id)];
    if (v.kind == Local::Kind::kArena) {
      PlanBuffer& b = buffers_[static_cast<size_t>(v.buffer)];
      b.last_step = std::max(b.last_step, at);
    }
  }

  Status allocate() {
    // Values that nodes after this plan read.
    std::vector<bool> read_later(graph().value_count(), false);
    const auto& order = graph().order();
    for (size_t i = plan_->ends_dynamic ? plan_->end - 1 : plan_->end; i < order.size(); ++i)
      for (graph::ValueId in : graph().node(order[i]).inputs)
        if (in.valid()) read_later[index(in)] = true;
    const auto last = static_cast<int32_t>(order.size());
    for (size_t v = 0; v < values_.size(); ++v)
      if (read_later[v]) touch({static_cast<int32_t>(v)}, last);
    for (PlanBuffer& b : buffers_) b.last_step = std::min(b.last_step, last);
    NEREID_TRY(const MemoryPlan memory, plan_memory(buffers_));
    plan_->arena_bytes = memory.arena_bytes;
    if (memory.arena_bytes > 0) {
      NEREID_TRY(plan_->arena,
                 Buffer::allocate(static_cast<size_t>(memory.arena_bytes),
                                  memory.arena_bytes >= (4 << 20) ? PageSize::kHuge : PageSize::kDefault));
    }
    for (Local& v : values_)
      if (v.kind == Local::Kind::kArena) v.data = plan_->arena.data() + memory.offsets[static_cast<size_t>(v.buffer)];
    // Everything that this plan makes.
    for (size_t i = plan_->begin; i < plan_->end; ++i) {
      if (plan_->ends_dynamic && i + 1 == plan_->end) break;
      for (graph::ValueId out : graph().node(order[i]).outputs) {
        const Local& v = values_[index(out)];
        plan_->made.push_back(
            {out,
             {.kind = v.kind == Local::Kind::kKnown && v.is_network_constant ? NetValue::Kind::kConstant
                                                                             : NetValue::Kind::kTensor,
              .type = v.type,
              .data = v.data}});
        if (v.alias_of.valid()) aliases_.push_back({plan_->made.size() - 1, v.alias_of});
      }
    }
    for (const auto& [made, source] : aliases_) {
      if (values_[index(source)].kind != Local::Kind::kExternal) continue;
      plan_->external_pointers.push_back({source, &plan_->made[made].value.data, 0});
    }
    return Status::ok();
  }

  // The network's own outputs that have a buffer to themselves.
  void find_outputs() {
    if (&graph() != &network().graph()) return;
    for (graph::ValueId id : graph().outputs()) {
      const Local& v = values_[index(id)];
      if (v.kind != Local::Kind::kArena || v.data == nullptr || output_in(v.buffer) != nullptr) continue;
      const int64_t bytes = *dtype_bytes(v.type.dtype, *v.type.shape.elements());
      auto* home = static_cast<std::byte*>(const_cast<void*>(v.data));
      if (bytes == 0 || bytes + kAlignment != buffers_[static_cast<size_t>(v.buffer)].size_bytes) continue;
      output_buffers_.push_back(v.buffer);
      plan_->outputs.push_back({.id = id, .bytes = bytes, .home = home, .now = home, .fields = {}});
    }
    for (Plan::Made& made : plan_->made)
      if (const Local& v = values_[index(made.id)]; v.kind == Local::Kind::kArena)
        if (Plan::Output* out = output_in(v.buffer))
          out->fields.push_back({&made.value.data, static_cast<const std::byte*>(v.data) - out->home});
  }
  Plan::Output* output_in(int32_t buffer) {
    const auto it = std::ranges::find(output_buffers_, buffer);
    return it == output_buffers_.end() ? nullptr : &plan_->outputs[static_cast<size_t>(it - output_buffers_.begin())];
  }

  Result<std::unique_ptr<NetStep>> bind(const graph::Node& node) {
    step_scratch_ = 0;
    for (const NetBindRow& row : net_bind_table()) {
      if (row.op != node.op->name) continue;
      const size_t pointers = pointers_.size(), scratch = scratch_fields_.size();
      Result<std::unique_ptr<NetStep>> step = row.bind(*this, node);
      if (step.is_ok() || step.status().code() != StatusCode::kUnsupported) return step;
      pointers_.resize(pointers);
      scratch_fields_.resize(scratch);
      plan_->notes.push_back(
          fmt::format("{} runs on its reference evaluator: {}", node.op->name, step.status().message()));
      return bind_reference(node, step.status().message());
    }
    plan_->notes.push_back(fmt::format("{} runs on its reference evaluator: there is no kernel for it", node.op->name));
    return bind_reference(node, "there is no kernel for it");
  }
  Result<std::unique_ptr<NetStep>> bind_reference(const graph::Node& node, std::string reason) {
    NEREID_TRY(std::unique_ptr<NetStep> step, bind_net_reference(*this, node));
    step->note = std::move(reason);
    return step;
  }

  Status bind_steps() {
    for (const Pending& p : pending_) {
      const graph::Node& node = graph().node(p.node);
      const std::string where = fmt::format("{} %{}", node.op->name, graph().value(node.outputs[0]).name);
      NEREID_TRY(std::unique_ptr<NetStep> step, bind(node).with(where));
      step->label = where;
      plan_->steps.push_back(std::move(step));
    }
    plan_->step_ns.assign(plan_->steps.size(), 0);
    std::ranges::sort(plan_->notes);
    plan_->notes.erase(std::unique(plan_->notes.begin(), plan_->notes.end()), plan_->notes.end());
    if (scratch_bytes_ > 0) {
      NEREID_TRY(plan_->scratch, Buffer::allocate(static_cast<size_t>(scratch_bytes_) + kAlignment));
    }
    for (const Scratch& s : scratch_fields_) *s.field = plan_->scratch.data() + s.offset;
    for (const Plan::Pointer& p : pointers_) {
      const graph::ValueId source = resolve(p.id);
      const Local& v = values_[index(source)];
      if (v.kind == Local::Kind::kExternal) {
        plan_->external_pointers.push_back({source, p.field, p.offset});
      } else {
        const auto* address = static_cast<const std::byte*>(values_[index(p.id)].data) + p.offset;
        std::memcpy(p.field, &address, sizeof(address));
        if (v.kind != Local::Kind::kArena) continue;
        if (Plan::Output* out = output_in(v.buffer)) out->fields.push_back({p.field, address - out->home});
      }
    }
    return Status::ok();
  }

  const PlanRequest& request_;
  std::unique_ptr<Plan> plan_;
  std::vector<Local> values_;
  std::vector<PlanBuffer> buffers_;
  std::vector<int32_t> output_buffers_;  // of plan_->outputs
  std::vector<Pending> pending_;
  std::vector<std::pair<size_t, graph::ValueId>> aliases_;
  std::vector<Plan::Pointer> pointers_;
  struct Scratch {
    std::byte** field;
    int64_t offset;
  };
  std::vector<Scratch> scratch_fields_;
  int64_t scratch_bytes_ = 0, step_scratch_ = 0;
};

}  // namespace

Status NetBinder::expect_f32(std::span<const graph::ValueId> ids) const {
  for (graph::ValueId id : ids)
    if (id.valid() && dtype(id) != DType::f32) return unsupported("an operand is {}, not f32", dtype_name(dtype(id)));
  return Status::ok();
}

Result<std::unique_ptr<Plan>> make_plan(const PlanRequest& request) {
  return Planner(request).make();
}

bool serves(const Plan& plan, const std::vector<NetValue>& values) {
  for (const Plan::External& e : plan.externals) {
    const NetValue& v = values[static_cast<size_t>(e.id.v)];
    if ((v.kind == NetValue::Kind::kTensor) != e.is_tensor || (e.is_tensor && v.type != e.type)) return false;
  }
  for (const Plan::Peeked& p : plan.peeked) {
    const NetValue& v = values[static_cast<size_t>(p.id.v)];
    const ConstTensorView was = std::as_const(p.value).view();
    if (v.kind != NetValue::Kind::kTensor || v.type.dtype != was.dtype ||
        std::memcmp(v.data, was.data, static_cast<size_t>(was.bytes())) != 0)
      return false;
  }
  return true;
}

}  // namespace nereid::runtime
