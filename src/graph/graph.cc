// SPDX-License-Identifier: Apache-2.0
// Building and rewriting graphs.
#include "graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "ops/attr_text.h"
#include "ops/run.h"

namespace nereid::graph {

std::string Graph::unique_name(std::string name) const {
  if (!by_name_.contains(name)) return name;
  for (int i = 2;; ++i) {
    std::string candidate = fmt::format("{}.{}", name, i);
    if (!by_name_.contains(candidate)) return candidate;
  }
}

ValueId Graph::add_value(Value value) {
  value.name = unique_name(std::move(value.name));
  const ValueId id{static_cast<int32_t>(values_.size())};
  by_name_.emplace(value.name, id.v);
  values_.push_back(std::move(value));
  uses_.emplace_back();
  return id;
}

void Graph::use(NodeId node) {
  for (ValueId in : nodes_[static_cast<size_t>(node.v)].inputs) {
    if (!in.valid()) continue;
    std::vector<NodeId>& uses = uses_[static_cast<size_t>(in.v)];
    if (std::ranges::find(uses, node) == uses.end()) uses.push_back(node);
  }
}

void Graph::place_from(size_t position) {
  for (size_t i = position; i < order_.size(); ++i) places_[static_cast<size_t>(order_[i].v)] = i;
}

ValueId Graph::add_input(std::string name, ops::TensorType type) {
  inputs_.push_back(add_value(
      {.name = std::move(name), .type = std::move(type), .kind = Value::Kind::kInput, .producer = {}, .data = {}}));
  return inputs_.back();
}

ValueId Graph::add_state(std::string name, ops::TensorType type) {
  states_.push_back(add_value(
      {.name = std::move(name), .type = std::move(type), .kind = Value::Kind::kState, .producer = {}, .data = {}}));
  return states_.back();
}

ValueId Graph::add_constant(std::string name, ops::TensorType type, ConstantData data) {
  return add_value({.name = std::move(name),
                    .type = std::move(type),
                    .kind = Value::Kind::kConstant,
                    .producer = {},
                    .data = std::move(data)});
}

ValueId Graph::add_constant_bytes(std::string name, ops::TensorType type, std::vector<std::byte> bytes) {
  auto owned = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  const ConstTensorView view(owned->data(), type.dtype, type.shape.sizes());
  NEREID_CHECK(view.bytes() == static_cast<int64_t>(owned->size()));
  owned_.push_back(std::move(owned));
  return add_constant(std::move(name), std::move(type), {.parts = {view}});
}

ValueId Graph::add_constant_f32(std::string name, std::vector<float> values, std::vector<int64_t> sizes) {
  auto owned = std::make_shared<std::vector<float>>(std::move(values));
  ops::TensorType type{DType::f32, Shape::of(sizes)};
  const ConstTensorView view(owned->data(), DType::f32, std::move(sizes));
  NEREID_CHECK(view.elements() == static_cast<int64_t>(owned->size()));
  owned_.push_back(std::move(owned));
  return add_constant(std::move(name), std::move(type), {.parts = {view}});
}

ValueId Graph::add_constant(std::string name, ops::Tensor tensor) {
  auto owned = std::make_shared<ops::Tensor>(std::move(tensor));
  const ConstTensorView view = std::as_const(*owned).view();
  owned_.push_back(std::move(owned));
  return add_constant(std::move(name), {view.dtype, Shape::of(view.sizes)}, {.parts = {view}});
}

void Graph::set_type(ValueId id, ops::TensorType type) {
  values_[static_cast<size_t>(id.v)].type = std::move(type);
}

void Graph::bind_constant(ValueId id, ConstantData data) {
  Value& v = values_[static_cast<size_t>(id.v)];
  NEREID_CHECK(v.kind == Value::Kind::kConstant);
  v.data = std::move(data);
}

void Graph::add_output(ValueId value) {
  NEREID_CHECK(value.valid() && static_cast<size_t>(value.v) < values_.size());
  outputs_.push_back(value);
}

// Checks kinds and presence, and gives every declared argument its place.
Status Graph::bind_arguments(const ops::OpDef& op, std::vector<ValueId>& inputs) const {
  const bool variadic = !op.inputs.empty() && op.inputs.back().variadic;
  if (!variadic && inputs.size() > op.inputs.size())
    return invalid_argument("{} arguments are given, but {} takes {}", inputs.size(), op.name, op.inputs.size());
  if (inputs.size() < op.inputs.size() && !variadic) inputs.resize(op.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ops::ArgSpec& arg = op.inputs[std::min(i, op.inputs.size() - 1)];
    if (!inputs[i].valid()) {
      if (!arg.optional) return invalid_argument("argument '{}' is required and missing", arg.name);
      continue;
    }
    if (static_cast<size_t>(inputs[i].v) >= values_.size())
      return internal("argument '{}' is value {} of {}", arg.name, inputs[i].v, values_.size());
    const Value& v = value(inputs[i]);
    if (arg.state && v.kind != Value::Kind::kState)
      return invalid_argument("argument '{}' should be a state, but %{} is none", arg.name, v.name);
    if (!arg.state && v.kind == Value::Kind::kState)
      return invalid_argument("%{} is a state and cannot be argument '{}'", v.name, arg.name);
  }
  return Status::ok();
}

Result<std::vector<ValueId>> Graph::place_node(size_t position, std::string_view op_name, std::vector<ValueId> inputs,
                                               ops::Attrs attrs, std::string name, std::vector<std::string> names,
                                               std::vector<std::shared_ptr<const Graph>> regions, bool doubtful) {
  if (names.empty() && name.empty()) name = op_name;
  const std::string where = fmt::format("{} %{}", op_name, names.empty() ? name : names[0]);
  const ops::OpDef* op = ops::find_op(op_name);
  if (op == nullptr) return invalid_argument("{}: there is no op of that name", where);
  NEREID_RETURN_IF_ERROR(bind_arguments(*op, inputs).with(where));
  NEREID_RETURN_IF_ERROR(ops::complete_attrs(*op, attrs).with(where));

  if (regions.size() != op->regions.size())
    return invalid_argument("{}: {} regions are given, but the op has {}", where, regions.size(), op->regions.size());
  Node fresh{
      .op = op, .inputs = std::move(inputs), .outputs = {}, .attrs = std::move(attrs), .regions = std::move(regions)};
  const size_t wanted = names.empty() ? op->outputs.size() : names.size();
  auto inferred = infer_results(fresh, wanted);
  if (!inferred.is_ok() && doubtful) inferred = unknown_results(fresh, wanted);
  NEREID_TRY(auto results, std::move(inferred).with(where));
  if (!names.empty() && names.size() != results.size())
    return invalid_argument("{}: {} results are named, but the op has {} here", where, names.size(), results.size());

  const NodeId node{static_cast<int32_t>(nodes_.size())};
  nodes_.push_back(std::move(fresh));
  order_.insert(order_.begin() + static_cast<ptrdiff_t>(position), node);
  places_.push_back(position);
  place_from(position);
  use(node);
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    std::string result_name = !names.empty() ? std::move(names[i]) : i == 0 ? name : fmt::format("{}.{}", name, i);
    outputs.push_back(add_value({.name = std::move(result_name),
                                 .type = std::move(results[i]),
                                 .kind = Value::Kind::kResult,
                                 .producer = node,
                                 .output = static_cast<int32_t>(i),
                                 .data = {}}));
  }
  nodes_.back().outputs = outputs;
  return outputs;
}

Result<std::vector<ValueId>> Graph::add_node(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                             std::string name) {
  return place_node(order_.size(), op, std::move(inputs), std::move(attrs), std::move(name), {});
}

Result<std::vector<ValueId>> Graph::add_node(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                             std::vector<std::string> names) {
  return place_node(order_.size(), op, std::move(inputs), std::move(attrs), {}, std::move(names));
}

Result<std::vector<ValueId>> Graph::add_node(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                             std::vector<std::string> names,
                                             std::vector<std::shared_ptr<const Graph>> regions) {
  return place_node(order_.size(), op, std::move(inputs), std::move(attrs), {}, std::move(names), std::move(regions));
}

Result<std::vector<ValueId>> Graph::add_doubtful_node(std::string_view op, std::vector<ValueId> inputs,
                                                      ops::Attrs attrs, std::vector<std::string> names) {
  return place_node(order_.size(), op, std::move(inputs), std::move(attrs), {}, std::move(names), {}, true);
}

std::vector<ops::TensorType> Graph::unknown_results(const Node& node, size_t wanted) const {
  std::vector<const ops::TensorType*> types;
  DType first = DType::f32;
  for (size_t i = node.inputs.size(); i-- > 0;) {
    const ValueId id = node.inputs[i];
    types.insert(types.begin(), id.valid() ? &value(id).type : nullptr);
    if (id.valid()) first = value(id).type.dtype;
  }
  const std::vector<const ConstTensorView*> constants(types.size(), nullptr);
  const ops::InferContext context{.inputs = types, .constants = constants, .attrs = node.attrs};
  std::vector<ops::TensorType> out;
  for (size_t i = 0; i < wanted; ++i)
    out.push_back({node.op->dtype_of != nullptr ? node.op->dtype_of(context, i) : first, Shape::unranked()});
  return out;
}

Result<std::vector<ops::TensorType>> Graph::infer_results(const Node& node, size_t wanted) const {
  std::vector<const ops::TensorType*> types;
  std::vector<const ConstTensorView*> constants;
  for (ValueId id : node.inputs) {
    const Value* v = id.valid() ? &value(id) : nullptr;
    types.push_back(v ? &v->type : nullptr);
    constants.push_back(v && v->data.parts.size() == 1 ? v->data.parts.data() : nullptr);
  }
  std::vector<std::vector<ops::TensorType>> regions;
  for (const auto& region : node.regions) {
    regions.emplace_back();
    for (ValueId out : region->outputs()) regions.back().push_back(region->value(out).type);
  }
  return ops::infer_types(*node.op, {.inputs = types, .constants = constants, .attrs = node.attrs, .regions = regions},
                          wanted);
}

Result<ValueId> Graph::add(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs, std::string name) {
  NEREID_TRY(auto results, add_node(op, std::move(inputs), std::move(attrs), std::move(name)));
  if (results.size() != 1) return invalid_argument("{} has {} results where one is wanted", op, results.size());
  return results[0];
}

ValueId Graph::find_value(std::string_view name) const {
  auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? ValueId{} : ValueId{it->second};
}

std::vector<ValueId> Graph::constants() const {
  std::vector<bool> live(values_.size(), false);
  auto mark = [&](ValueId id) { live[static_cast<size_t>(id.v)] = true; };
  for (NodeId n : order_)
    for (ValueId in : node(n).inputs)
      if (in.valid()) mark(in);
  for (ValueId out : outputs_) mark(out);
  std::vector<ValueId> result;
  for (size_t i = 0; i < values_.size(); ++i)
    if (live[i] && values_[i].kind == Value::Kind::kConstant) result.push_back({static_cast<int32_t>(i)});
  return result;
}

std::vector<NodeId> Graph::users(ValueId id) const {
  std::vector<NodeId> result = uses_[static_cast<size_t>(id.v)];
  std::ranges::sort(result, {}, [&](NodeId n) { return position_of(n); });
  return result;
}

bool Graph::is_output(ValueId id) const {
  return std::ranges::find(outputs_, id) != outputs_.end();
}

Result<std::vector<ValueId>> Graph::insert_node(NodeId before, std::string_view op, std::vector<ValueId> inputs,
                                                ops::Attrs attrs, std::string name) {
  return place_node(position_of(before), op, std::move(inputs), std::move(attrs), std::move(name), {});
}

Result<std::vector<ValueId>> Graph::insert_node(NodeId before, std::string_view op, std::vector<ValueId> inputs,
                                                ops::Attrs attrs, std::vector<std::string> names,
                                                std::vector<std::shared_ptr<const Graph>> regions) {
  return place_node(position_of(before), op, std::move(inputs), std::move(attrs), {}, std::move(names),
                    std::move(regions));
}

void Graph::set_region(NodeId id, size_t index, std::shared_ptr<const Graph> region) {
  nodes_[static_cast<size_t>(id.v)].regions[index] = std::move(region);
}

void Graph::replace_all_uses(ValueId from, ValueId to) {
  if (from == to) return;
  std::vector<NodeId> uses = std::move(uses_[static_cast<size_t>(from.v)]);
  uses_[static_cast<size_t>(from.v)].clear();
  for (NodeId n : uses) {
    std::ranges::replace(nodes_[static_cast<size_t>(n.v)].inputs, from, to);
    use(n);
  }
  std::ranges::replace(outputs_, from, to);
}

void Graph::erase_node(NodeId id) {
  Node& dead = nodes_[static_cast<size_t>(id.v)];
  for (ValueId out : dead.outputs) {
    NEREID_CHECK(!is_output(out) && users(out).empty());
    Value& v = values_[static_cast<size_t>(out.v)];
    by_name_.erase(v.name);
    v.producer = {};
  }
  for (ValueId in : dead.inputs)
    if (in.valid()) std::erase(uses_[static_cast<size_t>(in.v)], id);
  const size_t position = position_of(id);
  order_.erase(order_.begin() + static_cast<ptrdiff_t>(position));
  place_from(position);
  dead = {};
}

void Graph::rename(ValueId id, std::string name) {
  Value& v = values_[static_cast<size_t>(id.v)];
  if (v.name == name) return;
  auto it = by_name_.find(v.name);
  if (it != by_name_.end() && it->second == id.v) by_name_.erase(it);
  v.name = unique_name(std::move(name));
  by_name_.emplace(v.name, id.v);
}

Status Graph::sort() {
  // Edges go from a value's producer to its readers, and along the readers of each state in their present order.
  std::vector<std::vector<size_t>> next(order_.size());
  std::vector<int> waits(order_.size(), 0);
  std::vector<size_t> place(nodes_.size(), 0);
  for (size_t i = 0; i < order_.size(); ++i) place[static_cast<size_t>(order_[i].v)] = i;
  std::vector<ptrdiff_t> last_reader(values_.size(), -1);  // of states
  for (size_t i = 0; i < order_.size(); ++i) {
    std::set<size_t> sources;
    for (ValueId in : node(order_[i]).inputs) {
      if (!in.valid()) continue;
      const Value& v = value(in);
      if (v.kind == Value::Kind::kState) {
        ptrdiff_t& last = last_reader[static_cast<size_t>(in.v)];
        if (last >= 0 && static_cast<size_t>(last) != i) sources.insert(static_cast<size_t>(last));
        last = static_cast<ptrdiff_t>(i);
      } else if (v.producer.valid()) {
        sources.insert(place[static_cast<size_t>(v.producer.v)]);
      }
    }
    for (size_t s : sources) next[s].push_back(i);
    waits[i] = static_cast<int>(sources.size());
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < order_.size(); ++i)
    if (waits[i] == 0) ready.push(i);
  std::vector<NodeId> sorted;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    sorted.push_back(order_[i]);
    for (size_t j : next[i])
      if (--waits[j] == 0) ready.push(j);
  }
  if (sorted.size() != order_.size())
    return internal("graph '{}' has a cycle among {} of its nodes", name_, order_.size() - sorted.size());
  order_ = std::move(sorted);
  place_from(0);
  return Status::ok();
}

}  // namespace nereid::graph
