// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/plan.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ops/quantized_layer.h"
#include "ops/run.h"
#include "ops/shape_rule.h"
#include "runtime/memory_plan.h"
#include "runtime/net/bind_rows.h"
#include "runtime/net/image_blocks.h"
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

// Ops whose kernels write rows any number of elements apart, so that a part of a concatenation lies where it will be
// read.
constexpr std::string_view kStrided[] = {"conv_last", "dense", "pool_last", "program", "resize"};

class Planner final : public NetBinder {
 public:
  // stores_low: whether values may be kept in bf16 between layers.
  Planner(const PlanRequest& request, bool stores_low)
      : request_(request),
        stores_low_(stores_low),
        plan_(std::make_unique<Plan>()),
        values_(request.graph.value_count()) {
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
    if (stores_low_) choose_storage();
    choose_blocks();
    choose_planes();
    NEREID_RETURN_IF_ERROR(allocate());
    find_outputs();
    NEREID_RETURN_IF_ERROR(bind_steps());
    return std::move(plan_);
  }

  // Whether a step refused what choose_storage gave it.
  bool storage_failed() const { return storage_failed_; }

  // NetBinder
  const Network& network() const override { return request_.network; }
  int workers() const override { return request_.workers; }
  const ops::TensorType& type(graph::ValueId id) const override {
    const auto cut = cut_.find(id.v);
    return cut == cut_.end() ? values_[index(id)].type : cut->second.type;
  }
  const void* constant(graph::ValueId id) const override {
    if (!id.valid()) return nullptr;
    const Local& v = values_[index(id)];
    return v.kind == Local::Kind::kKnown && v.is_network_constant ? v.data : nullptr;
  }
  const void* known(graph::ValueId id) const override {
    if (!id.valid()) return nullptr;
    if (const Local& v = values_[index(id)]; v.kind == Local::Kind::kKnown) {
      if (v.is_network_constant) network().want(v.data, false);
      return v.data;
    }
    for (const Plan::Peeked& p : plan_->peeked)
      if (p.id == resolve(id)) return std::as_const(p.value).view().data;
    return nullptr;
  }
  int64_t row_stride(graph::ValueId id) const override {
    const Local& v = values_[index(id)];
    if (v.row_stride > 0 || v.type.shape.rank() == 0) return std::max<int64_t>(1, v.row_stride);
    return v.type.shape[v.type.shape.rank() - 1].size();
  }
  bool lies_inside(graph::ValueId id) const override { return values_[index(id)].inside; }
  graph::ValueId planes_of(graph::ValueId id) const override {
    return planes_.empty() ? graph::ValueId{} : planes_[index(id)];
  }
  void point(graph::ValueId id, void* field, int64_t offset) override {
    if (const Local& v = values_[index(id)]; v.is_network_constant) network().want(v.data, true);
    if (const auto cut = cut_.find(id.v); cut != cut_.end()) offset += cut->second.offset;
    pointers_.push_back({id, field, offset});
  }
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
    int64_t offset = 0;                // kArena: bytes into the buffer
    bool inside = false;               // kArena: a part of a concatenation, where that lies
    int64_t row_stride = 0;            // ... with so many elements between its rows; 0: none between them
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
    for (const ConstTensorView& view : in.views)
      if (view.data != nullptr) network().want(view.data, false);
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
      buffers_.push_back({.size_bytes = bytes + kAlignment,
                          .first_step = at,
                          .last_step = at,
                          .in_place_of = i == 0 ? overwritten(node, types[0]) : -1});
      // What is read after this plan, or leaves the graph, stays to the end.
      if (escapes(node.outputs[i])) touch(node.outputs[i], INT32_MAX);
    }
    if (std::ranges::any_of(types, [](const ops::TensorType& t) { return t.dtype == DType::string; }))
      return unsupported_strings(node);
    if (node.op->name == "concat") join_in_place(node, types[0]);
    pending_.push_back({id});
    return Outcome::kGoOn;
  }
  // Parts of a concatenation that can be made where they will be read take their place in it: one of their buffers
  // becomes the whole, the others are views of it.
  void join_in_place(const graph::Node& node, const ops::TensorType& y) {
    const graph::ValueId whole = node.outputs[0];
    if (graph().is_output(whole) || network().precision() != NetPrecision::kF32) return;
    const int64_t element = dtype_info(y.dtype).block_bytes;
    const ops::AxisSteps steps = ops::axis_steps(y.shape.sizes(), node.attrs.integer("axis"));
    if (dtype_info(y.dtype).block_elements != 1 || (steps.outer > 1 && (steps.inner > 1 || y.dtype != DType::f32)))
      return;
    std::vector<std::pair<graph::ValueId, int64_t>> parts;  // with offsets
    int64_t offset = 0;
    for (graph::ValueId in : node.inputs) {
      const int64_t size = *values_[index(in)].type.shape.elements() / std::max<int64_t>(1, steps.outer);
      if (std::ranges::count(node.inputs, in) == 1 && can_lie_inside(in, steps.outer > 1, size))
        parts.emplace_back(in, offset);
      offset += size * element;
    }
    if (parts.empty()) return;
    int32_t base = INT32_MAX;
    for (const auto& [part, at] : parts) base = std::min(base, values_[index(part)].buffer);
    PlanBuffer& mine = buffers_.back();  // made for the result just now
    PlanBuffer& first = buffers_[static_cast<size_t>(base)];
    first.size_bytes = mine.size_bytes;
    first.last_step = std::max(first.last_step, mine.last_step);
    first.in_place_of = -1;
    buffers_.pop_back();
    values_[index(whole)].buffer = base;
    for (const auto& [part, at] : parts) {
      Local& v = values_[index(part)];
      v.inside = true;
      if (steps.outer > 1) v.row_stride = steps.size;
      if (v.buffer == base) {
        v.offset = at;
        continue;
      }
      PlanBuffer& b = buffers_[static_cast<size_t>(v.buffer)];
      const int64_t row = *v.type.shape.elements() / steps.outer * element;
      b.size_bytes = (steps.outer - 1) * steps.size * steps.inner * element + row;
      b.view_of = base;
      b.view_offset = at;
      b.in_place_of = -1;
    }
  }
  bool can_lie_inside(graph::ValueId id, bool strided, int64_t row) const {
    const Local& v = values_[index(id)];
    if (v.kind != Local::Kind::kArena || v.inside || graph().is_output(id) || graph().users(id).size() != 1)
      return false;
    const graph::NodeId producer = graph().value(id).producer;
    if (!producer.valid() || graph().position_of(producer) < request_.begin) return false;
    const graph::Node& maker = graph().node(producer);
    const ops::OpDef& op = *maker.op;
    // What lies in a concatenation would have to move with it; kernels of low precision write rows that follow each
    // other.
    if (is_alias(op) || op.name == "concat" ||
        (maker.attrs.has("precision") && maker.attrs.text("precision") == "bf16"))
      return false;
    return !strided || (row > 1 && std::ranges::find(kStrided, op.name) != std::end(kStrided));
  }
  // The buffer that a step may write its result into although it reads it: that of a layer's residual, read where the
  // result is written just then. The memory plan sees to it that nobody reads it later. -1: none.
  int32_t overwritten(const graph::Node& node, const ops::TensorType& y) {
    const std::string_view op = node.op->name;
    const bool quantised = op == "dense_q" || op == "conv_last_q";
    if (op != "dense" && op != "conv_last" && !quantised) return -1;
    const size_t at = quantised ? size_t{ops::kQResidual} : 3;
    const graph::ValueId residual = node.inputs[at];
    if (!residual.valid()) return -1;
    const Local& r = local(residual);
    if (r.kind != Local::Kind::kArena || r.type != y) return -1;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (i != at && node.inputs[i].valid() && local(node.inputs[i]).buffer == r.buffer) return -1;
    return r.buffer;
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

  // Where the plan's own nodes end.
  size_t own_end() const { return plan_->ends_dynamic ? plan_->end - 1 : plan_->end; }
  std::vector<bool> read_later() const {
    std::vector<bool> read(graph().value_count(), false);
    const auto& order = graph().order();
    for (size_t i = own_end(); i < order.size(); ++i)
      for (graph::ValueId in : graph().node(order[i]).inputs)
        if (in.valid()) read[index(in)] = true;
    return read;
  }

  // Values that are made by one node of this plan that writes bf16, read by nodes of it alone that read bf16, and known
  // to nobody else are stored in it (storage.cc).
  void choose_storage() {
    const std::vector<bool> later = read_later();
    const auto& order = graph().order();
    // Values of f32 made here; what is an alias of one shares its memory and so its fate.
    std::vector<bool> low(values_.size(), false), written(values_.size(), false);
    std::vector<graph::ValueId> source(values_.size());
    for (size_t i = plan_->begin; i < own_end(); ++i) {
      const graph::Node& node = graph().node(order[i]);
      const bool alias = is_alias(*node.op);
      for (graph::ValueId out : node.outputs) {
        const Local& v = values_[index(out)];
        if (v.kind != Local::Kind::kArena || v.type.dtype != DType::f32) continue;
        source[index(out)] = alias ? source[index(node.inputs[0])] : out;
        if (!alias) low[index(out)] = writes_bf16(*this, node) && node.outputs.size() == 1;
      }
    }
    const auto refuse = [&](graph::ValueId id) {
      if (!id.valid() || !source[index(id)].valid() || !low[index(source[index(id)])]) return false;
      low[index(source[index(id)])] = false;
      return true;
    };
    for (size_t v = 0; v < values_.size(); ++v)
      if (const graph::ValueId id{static_cast<int32_t>(v)}; later[v] || graph().is_output(id) || values_[v].inside)
        refuse(id);
    for (size_t i = plan_->begin; i < own_end(); ++i) {
      const graph::Node& node = graph().node(order[i]);
      if (is_alias(*node.op)) continue;
      for (size_t k = 0; k < node.inputs.size(); ++k)
        if (node.inputs[k].valid() && source[index(node.inputs[k])].valid() &&
            low[index(source[index(node.inputs[k])])] && !reads_bf16(*this, node, k))
          refuse(node.inputs[k]);
    }
    // Nodes that do not convert ask for one type.
    for (bool again = true; again;) {
      again = false;
      for (size_t i = plan_->begin; i < own_end(); ++i) {
        const graph::Node& node = graph().node(order[i]);
        if (!keeps_storage(node)) continue;
        const auto is_low = [&](graph::ValueId id) {
          return id.valid() && source[index(id)].valid() && low[index(source[index(id)])];
        };
        if (is_low(node.outputs[0]) && std::ranges::all_of(node.inputs, is_low)) continue;
        for (graph::ValueId in : node.inputs) again = refuse(in) || again;
        again = refuse(node.outputs[0]) || again;
      }
    }
    for (size_t v = 0; v < values_.size(); ++v) {
      if (!source[v].valid() || !low[index(source[v])]) continue;
      values_[v].type.dtype = DType::bf16;
      buffers_[static_cast<size_t>(values_[v].buffer)].size_bytes =
          *dtype_bytes(DType::bf16, *values_[v].type.shape.elements()) + kAlignment;
    }
    // A result takes its residual's place only if both have one type.
    for (const Pending& p : pending_) {
      const graph::Node& node = graph().node(p.node);
      if (node.outputs.empty() || node.inputs.size() < 4 || !node.inputs[3].valid()) continue;
      const Local& y = values_[index(node.outputs[0])];
      if (y.kind != Local::Kind::kArena || y.type.dtype == values_[index(node.inputs[3])].type.dtype) continue;
      buffers_[static_cast<size_t>(y.buffer)].in_place_of = -1;
    }
  }

  // What image_blocks looks at. Images lie behind each other, in buffers that no concatenation has a part in.
  ImageNode image_node(const graph::Node& node) const {
    if (node.outputs.size() != 1) return {};
    const std::vector<size_t> inputs = image_inputs(node);
    const Local& y = values_[index(node.outputs[0])];
    if (inputs.empty() || y.kind != Local::Kind::kArena || y.inside || y.type.shape.rank() < 2) return {};
    // How a convolution of f32 is done depends on its batch, and so do its bits; one that multiplies in bf16 has
    // weights of that size.
    const bool is_number_conv = node.op->name == "conv_last";
    if (is_number_conv && !stores_bf16(*this, node)) return {};
    const int64_t images = y.type.shape[0].size();
    int64_t bytes = *dtype_bytes(y.type.dtype, *y.type.shape.elements()), weights = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) continue;
      const Local& x = values_[index(node.inputs[i])];
      const bool has_images = std::ranges::find(inputs, i) != inputs.end();
      const bool fits = x.type.shape.rank() == y.type.shape.rank() && x.type.shape[0].size() == images;
      if ((x.kind == Local::Kind::kKnown) == (has_images && fits) || x.inside || (has_images && !fits)) return {};
      (has_images ? bytes : weights) += *dtype_bytes(x.type.dtype, *x.type.shape.elements());
    }
    if (is_number_conv) weights /= 2;
    return images > 1 ? ImageNode{images, bytes / images, weights} : ImageNode{};
  }
  // Values that a stretch alone makes and reads have memory for one block; what it shares with others lives until its
  // last block, or from its first one on.
  void choose_blocks() {
    std::vector<ImageNode> nodes;
    for (const Pending& p : pending_) nodes.push_back(image_node(graph().node(p.node)));
    blocks_ = image_blocks(nodes, workers());
    if (blocks_.empty()) return;
    const std::vector<bool> later = read_later();
    std::vector<int32_t> names(buffers_.size(), 0);  // values of each buffer
    for (const Local& v : values_)
      if (v.kind == Local::Kind::kArena) ++names[static_cast<size_t>(v.buffer)];
    is_local_.assign(values_.size(), false);
    std::vector<int32_t> stretch(buffers_.size(), -1);  // of local values
    for (size_t k = 0; k < blocks_.size(); ++k) {
      const ImageBlocks& b = blocks_[k];
      const auto node_at = [&](size_t i) { return pending_[i].node; };
      const int32_t first = position(node_at(b.begin)), last = position(node_at(b.end - 1));
      for (size_t i = b.begin; i < b.end; ++i) {
        const graph::Node& node = graph().node(node_at(i));
        const graph::ValueId y = node.outputs[0];
        const Local& v = values_[index(y)];
        PlanBuffer& buffer = buffers_[static_cast<size_t>(v.buffer)];
        const auto& users = graph().users(y);
        const bool inside = std::ranges::all_of(users, [&](graph::NodeId user) {
          const int32_t at = position(user);
          return at >= first && at <= last;
        });
        const bool local = inside && names[static_cast<size_t>(v.buffer)] == 1 && !later[index(y)] && !escapes(y);
        is_local_[index(y)] = local;
        if (local) {
          stretch[static_cast<size_t>(v.buffer)] = static_cast<int32_t>(k);
          buffer.size_bytes = (buffer.size_bytes - kAlignment) / b.images * b.block + kAlignment;
        } else {
          buffer.first_step = std::min(buffer.first_step, first);
          buffer.last_step = std::max(buffer.last_step, last);
        }
        for (graph::ValueId in : node.inputs)
          if (in.valid() && !(values_[index(in)].kind == Local::Kind::kArena && is_local_[index(in)])) touch(in, last);
      }
    }
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (const int32_t place = buffers_[i].in_place_of;
          place >= 0 && stretch[i] != stretch[static_cast<size_t>(place)])
        buffers_[i].in_place_of = -1;
    // A result in the place of one that is read again by the next block would spoil it.
    for (const ImageBlocks& b : blocks_)
      for (size_t i = b.begin; i < b.end; ++i)
        if (const graph::ValueId y = graph().node(pending_[i].node).outputs[0]; !is_local_[index(y)])
          buffers_[static_cast<size_t>(values_[index(y)].buffer)].in_place_of = -1;
  }
  // An image that comes as planes and is read by one layer alone is not made channels-last before it is rounded.
  void choose_planes() {
    planes_.assign(values_.size(), {});
    const std::vector<bool> later = read_later();
    const auto block_of = [&](size_t i) {
      size_t k = 0;
      while (k < blocks_.size() && blocks_[k].end <= i) ++k;
      return k < blocks_.size() && blocks_[k].begin <= i ? static_cast<int>(k) : -1;
    };
    for (size_t i = 0; i < pending_.size(); ++i) {
      const graph::Node& node = graph().node(pending_[i].node);
      if (node.op->name != "transpose" || values_[index(node.inputs[0])].kind != Local::Kind::kExternal) continue;
      const graph::ValueId y = node.outputs[0];
      const auto& users = graph().users(y);
      if (users.size() != 1 || graph().is_output(y) || later[index(y)]) continue;
      size_t at = 0;
      while (at < pending_.size() && pending_[at].node != users[0]) ++at;
      if (at < pending_.size() && block_of(at) == block_of(i) && reads_planes(*this, node, graph().node(users[0])))
        planes_[index(y)] = node.inputs[0];
    }
  }
  int32_t position(graph::NodeId id) const { return static_cast<int32_t>(graph().position_of(id)); }

  Status allocate() {
    const std::vector<bool> read_later = this->read_later();
    const auto& order = graph().order();
    const auto last = static_cast<int32_t>(order.size());
    for (size_t v = 0; v < values_.size(); ++v)
      if (read_later[v]) touch({static_cast<int32_t>(v)}, last);
    for (PlanBuffer& b : buffers_) b.last_step = std::min(b.last_step, last);
    NEREID_TRY(const MemoryPlan memory, plan_memory(buffers_));
    plan_->arena_bytes = memory.arena_bytes;
    if (memory.arena_bytes > 0) {
      NEREID_TRY(plan_->arena,
                 Buffer::allocate(static_cast<size_t>(memory.arena_bytes),
                                  memory.arena_bytes >= (2 << 20) ? PageSize::kHuge : PageSize::kDefault));
    }
    for (Local& v : values_)
      if (v.kind == Local::Kind::kArena)
        v.data = plan_->arena.data() + memory.offsets[static_cast<size_t>(v.buffer)] + v.offset;
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
      if (stores_bf16(*this, node)) {
        storage_failed_ = true;
        return step;
      }
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

  Status bind_step(const graph::Node& node) {
    const std::string where = fmt::format("{} %{}", node.op->name, graph().value(node.outputs[0]).name);
    NEREID_TRY(std::unique_ptr<NetStep> step, bind(node).with(where));
    step->label = where;
    plan_->steps.push_back(std::move(step));
    return Status::ok();
  }
  // A value of some images, as binders of a block see it.
  void cut(graph::ValueId id, const ImageBlocks& b, int64_t first, int64_t count) {
    const ops::TensorType& whole = values_[index(id)].type;
    const bool local = values_[index(id)].kind == Local::Kind::kArena && is_local_[index(id)];
    std::vector<int64_t> sizes = whole.shape.sizes();
    sizes[0] = count;
    const int64_t image = *dtype_bytes(whole.dtype, *whole.shape.elements()) / b.images;
    cut_[id.v] = {ops::TensorType{whole.dtype, Shape::of(sizes)}, local ? 0 : first * image};
  }
  Status bind_blocks(const ImageBlocks& b) {
    const size_t begin = plan_->steps.size(), nodes = b.end - b.begin;
    for (int64_t first = 0; first < b.images; first += b.block) {
      for (size_t i = b.begin; i < b.end; ++i) {
        const graph::Node& node = graph().node(pending_[i].node);
        const int64_t count = std::min(b.block, b.images - first);
        for (size_t in : image_inputs(node))
          if (node.inputs[in].valid()) cut(node.inputs[in], b, first, count);
        cut(node.outputs[0], b, first, count);
        plan_->timed_as.push_back(begin + (i - b.begin) % nodes);
        NEREID_RETURN_IF_ERROR(bind_step(node));
      }
      cut_.clear();
    }
    return Status::ok();
  }
  Status bind_steps() {
    auto block = blocks_.begin();
    for (size_t i = 0; i < pending_.size();) {
      if (block != blocks_.end() && block->begin == i) {
        NEREID_RETURN_IF_ERROR(bind_blocks(*block));
        i = block++->end;
        continue;
      }
      plan_->timed_as.push_back(plan_->steps.size());
      NEREID_RETURN_IF_ERROR(bind_step(graph().node(pending_[i++].node)));
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
  bool stores_low_, storage_failed_ = false;
  std::unique_ptr<Plan> plan_;
  std::vector<Local> values_;
  std::vector<PlanBuffer> buffers_;
  std::vector<int32_t> output_buffers_;  // of plan_->outputs
  std::vector<Pending> pending_;
  std::vector<ImageBlocks> blocks_;     // of pending_
  std::vector<graph::ValueId> planes_;  // by value: planes_of
  std::vector<bool> is_local_;          // by value: made and read in one stretch of blocks alone
  struct Cut {
    ops::TensorType type;
    int64_t offset;  // bytes
  };
  std::map<int32_t, Cut> cut_;  // by value: what the block that is bound just now sees
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
  Planner planner(request, true);
  Result<std::unique_ptr<Plan>> plan = planner.make();
  return planner.storage_failed() ? Planner(request, false).make() : std::move(plan);
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
