// SPDX-License-Identifier: Apache-2.0
// Reading and changing graphs for passes that are code.
#include "passes/edit.h"

#include <algorithm>
#include <cmath>

#include "graph/evaluate.h"
#include "graph/text_syntax.h"
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::passes {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

const Node* Edit::maker(ValueId v) const {
  if (!v.valid()) return nullptr;
  const NodeId producer = g_.value(v).producer;
  return producer.valid() ? &g_.node(producer) : nullptr;
}

const Node* Edit::made_by(ValueId v, std::string_view op) const {
  const Node* node = maker(v);
  return node != nullptr && node->op->name == op && g_.value(v).output == 0 ? node : nullptr;
}

bool Edit::is_constant(ValueId v) const {
  return v.valid() && g_.value(v).kind == graph::Value::Kind::kConstant;
}

bool Edit::has_data(ValueId v) const {
  return is_constant(v) && !g_.value(v).data.parts.empty();
}

std::optional<std::vector<double>> Edit::numbers(ValueId v, int64_t most) const {
  if (!has_data(v)) return std::nullopt;
  const graph::Value& value = g_.value(v);
  const DType dtype = value.type.dtype;
  if (!is_float(dtype) && !is_integer(dtype) && dtype != DType::boolean) return std::nullopt;
  if (value.type.shape.elements().value_or(most + 1) > most) return std::nullopt;
  const auto load = [](const ConstTensorView& view) {
    const auto elements = ops::load<double>(view);
    return std::vector<double>(elements.begin(), elements.end());
  };
  if (value.data.parts.size() == 1) return load(value.data.parts[0]);
  const auto whole = graph::join_parts(value);
  if (!whole.is_ok()) return std::nullopt;
  return load(whole->view());
}

std::optional<std::vector<int64_t>> Edit::integers(ValueId v) const {
  if (!is_constant(v) || !is_integer(type(v).dtype) || value(v).data.parts.size() != 1) return std::nullopt;
  const auto elements = ops::load<int64_t>(value(v).data.parts[0]);
  return std::vector<int64_t>(elements.begin(), elements.end());
}

std::optional<double> Edit::scalar(ValueId v) const {
  const auto values = numbers(v, 1);
  if (!values || values->size() != 1) return std::nullopt;
  return (*values)[0];
}

bool Edit::is_scalar(ValueId v, double wanted, double tolerance) const {
  const auto found = scalar(v);
  return found && std::abs(*found - wanted) <= tolerance * std::max(1e-6, std::abs(wanted));
}

Result<ValueId> Edit::insert(NodeId before, std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                             std::string name) {
  if (context_.capabilities.accepts) {
    const ops::OpDef* def = ops::find_op(op);
    NEREID_CHECK(def != nullptr);
    ops::Attrs complete = attrs;
    NEREID_RETURN_IF_ERROR(ops::complete_attrs(*def, complete));
    std::vector<const ops::TensorType*> types;
    for (ValueId in : inputs) types.push_back(in.valid() ? &type(in) : nullptr);
    NEREID_RETURN_IF_ERROR(context_.capabilities.accepts(*def, types, complete));
  }
  NEREID_TRY(auto results, g_.insert_node(before, op, std::move(inputs), std::move(attrs), std::move(name)));
  NEREID_CHECK(results.size() == 1);
  return results[0];
}

ValueId Edit::constant(std::string name, DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values) {
  return g_.add_constant(std::move(name), ops::Tensor::of(dtype, std::move(sizes), values));
}

ValueId Edit::constant_integers(std::string name, const std::vector<int64_t>& values) {
  const std::vector<double> numbers(values.begin(), values.end());
  return constant(std::move(name), DType::i64, {static_cast<int64_t>(values.size())}, numbers);
}

void Edit::take_name(ValueId from, ValueId to) {
  if (from == to || g_.is_output(from) || !g_.users(from).empty()) return;
  const std::string name = g_.value(from).name;
  g_.rename(from, name + ".was");
  g_.rename(to, name);
}

void Edit::erase_unused(NodeId id) {
  std::vector<NodeId> todo{id};
  while (!todo.empty()) {
    const NodeId at = todo.back();
    todo.pop_back();
    const Node& node = g_.node(at);
    if (node.op == nullptr || std::ranges::any_of(node.op->inputs, &ops::ArgSpec::state)) continue;
    if (!std::ranges::all_of(node.outputs, [&](ValueId v) { return !g_.is_output(v) && g_.users(v).empty(); }))
      continue;
    const std::vector<ValueId> inputs = node.inputs;
    g_.erase_node(at);
    for (ValueId in : inputs)
      if (in.valid() && g_.value(in).producer.valid()) todo.push_back(g_.value(in).producer);
  }
}

Status Edit::replace(ValueId from, ValueId to) {
  const graph::Value old = g_.value(from);
  const graph::Value now = g_.value(to);
  const auto both = merge_types(old.type, now.type);
  if (!both) return unsupported("the result would be {} and not {}", now.type.to_string(), old.type.to_string());
  const bool output = g_.is_output(from);
  // A result or constant without readers was made for this place.
  const bool made = now.kind == graph::Value::Kind::kResult || now.kind == graph::Value::Kind::kConstant;
  const bool fresh = made && g_.users(to).empty() && !g_.is_output(to);
  if (output && !fresh && (now.kind != graph::Value::Kind::kResult || g_.is_output(to)))
    return unsupported("the graph's output would lose its name");
  if (now.kind == graph::Value::Kind::kResult) g_.set_type(to, *both);
  g_.replace_all_uses(from, to);
  if (fresh || output) {
    g_.rename(from, old.name + ".was");
    g_.rename(to, old.name);
  }
  if (old.producer.valid()) erase_unused(old.producer);
  return Status::ok();
}

std::string Edit::where(NodeId node) const {
  return fmt::format("{} %{}", g_.node(node).op->name, graph::name_to_text(g_.value(g_.node(node).outputs[0]).name));
}
void Edit::fired(std::string where, std::string what) {
  context_.records.push_back({.fired = true, .where = std::move(where), .what = std::move(what)});
}
void Edit::refused(std::string where, std::string why) {
  context_.records.push_back({.fired = false, .where = std::move(where), .what = std::move(why)});
}
void Edit::record(std::string where, const Status& status, std::string what) {
  status.is_ok() ? fired(std::move(where), std::move(what)) : refused(std::move(where), std::string(status.message()));
}

bool same_size(const Dim& a, const Dim& b) {
  return a == b && !a.is_unknown();
}
bool same_shape(const Shape& a, const Shape& b) {
  return a.is_ranked() && b.is_ranked() && std::ranges::equal(a.dims(), b.dims(), same_size);
}

std::optional<ops::TensorType> merge_types(const ops::TensorType& a, const ops::TensorType& b) {
  if (!a.is_tensor() || !b.is_tensor()) return a == b ? std::optional(a) : std::nullopt;
  if (a.dtype != b.dtype) return std::nullopt;
  if (!a.shape.is_ranked()) return b;
  if (!b.shape.is_ranked()) return a;
  if (a.shape.rank() != b.shape.rank()) return std::nullopt;
  ops::TensorType out = a;
  for (int d = 0; d < a.shape.rank(); ++d) {
    const auto both = ops::merge(a.shape[d], b.shape[d]);
    if (!both) return std::nullopt;
    out.shape[d] = both->is_unknown() ? b.shape[d] : *both;
  }
  return out;
}

std::optional<std::vector<int64_t>> reshape_shape(const Shape& from, const Shape& to) {
  if (!from.is_ranked() || !to.is_ranked()) return std::nullopt;
  std::vector<int64_t> shape;
  bool open = false;
  for (int i = 0; i < to.rank(); ++i) {
    if (i < from.rank() && same_size(from[i], to[i]) && !to[i].is_static()) {
      shape.push_back(0);
    } else if (to[i].is_static()) {
      if (to[i].size() == 0) return std::nullopt;  // 0 means something else
      shape.push_back(to[i].size());
    } else {
      if (open) return std::nullopt;
      open = true;
      shape.push_back(-1);
    }
  }
  return shape;
}

std::optional<std::vector<double>> along_axis(const Edit& edit, ValueId constant, const Shape& shape, int axis) {
  if (!edit.is_constant(constant)) return std::nullopt;
  const Shape& own = edit.type(constant).shape;
  if (own.rank() > shape.rank()) return std::nullopt;
  for (int d = 1; d <= own.rank(); ++d) {
    const Dim& size = own[own.rank() - d];
    if (size == Dim(1)) continue;
    if (shape.rank() - d != axis || !same_size(size, shape[axis])) return std::nullopt;
  }
  return edit.numbers(constant);
}

}  // namespace nereid::passes
