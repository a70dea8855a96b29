// SPDX-License-Identifier: Apache-2.0
// Checks of a whole graph.
#include "graph/verify.h"

#include <set>

#include "graph/text.h"
#include "ops/attr_text.h"

namespace nereid::graph {
namespace {

std::string describe(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return fmt::format("{} %{}", node.op->name,
                     node.outputs.empty() ? "(no result)" : name_to_text(graph.value(node.outputs[0]).name));
}

Status verify_constant(const Value& v) {
  if (v.data.parts.empty()) return Status::ok();
  if (!v.type.shape.is_static())
    return internal("constant %{} has data but a symbolic type {}", v.name, print_type(v.type));
  const std::vector<int64_t> sizes = v.type.shape.sizes();
  int64_t rows = 0;
  for (const ConstTensorView& part : v.data.parts) {
    const bool fits = part.dtype == v.type.dtype && part.sizes.size() == sizes.size() &&
                      (sizes.empty() || std::equal(sizes.begin() + 1, sizes.end(), part.sizes.begin() + 1));
    if (!fits)
      return internal("constant %{} is {}, but a part of its data is {}{}", v.name, print_type(v.type),
                      dtype_name(part.dtype), Shape::of(part.sizes).to_string());
    rows += sizes.empty() ? 0 : part.sizes[0];
  }
  if (!sizes.empty() && rows != sizes[0])
    return internal("constant %{} is {}, but its data has {} rows", v.name, print_type(v.type), rows);
  return Status::ok();
}

Status verify_arguments(const Graph& graph, NodeId id, const std::vector<bool>& defined) {
  const Node& node = graph.node(id);
  const bool variadic = !node.op->inputs.empty() && node.op->inputs.back().variadic;
  if (!variadic && node.inputs.size() != node.op->inputs.size())
    return internal("{} has {} arguments where its op declares {}", describe(graph, id), node.inputs.size(),
                    node.op->inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ops::ArgSpec& arg = node.op->inputs[std::min(i, node.op->inputs.size() - 1)];
    const ValueId in = node.inputs[i];
    if (!in.valid()) {
      if (!arg.optional) return internal("{} lacks its argument '{}'", describe(graph, id), arg.name);
      continue;
    }
    if (static_cast<size_t>(in.v) >= graph.value_count())
      return internal("{} reads value {}, but the graph has {}", describe(graph, id), in.v, graph.value_count());
    const Value& v = graph.value(in);
    if ((v.kind == Value::Kind::kState) != arg.state)
      return internal("{} takes %{} as argument '{}', which {} a state", describe(graph, id), v.name, arg.name,
                      arg.state ? "should be" : "is not declared as");
    if (!defined[static_cast<size_t>(in.v)])
      return internal("{} reads %{} before it is computed", describe(graph, id), v.name);
  }
  return Status::ok();
}

Status verify_results(const Graph& graph, NodeId id, std::vector<bool>& defined) {
  const Node& node = graph.node(id);
  ops::Attrs attrs = node.attrs;
  NEREID_RETURN_IF_ERROR(ops::complete_attrs(*node.op, attrs).with(describe(graph, id)));
  if (!(attrs == node.attrs)) return internal("{} has incomplete attributes", describe(graph, id));
  NEREID_TRY(auto inferred, graph.infer_results(node, node.outputs.size()).with(describe(graph, id)));
  if (inferred.size() != node.outputs.size())
    return internal("{} has {} results where its op gives {}", describe(graph, id), node.outputs.size(),
                    inferred.size());
  for (size_t i = 0; i < inferred.size(); ++i) {
    const ValueId out = node.outputs[i];
    const Value& v = graph.value(out);
    if (v.kind != Value::Kind::kResult || v.producer != id || v.output != static_cast<int32_t>(i))
      return internal("%{} does not know {} as its producer", v.name, describe(graph, id));
    if (defined[static_cast<size_t>(out.v)]) return internal("%{} is computed twice", v.name);
    if (!may_be(v.type, inferred[i]))
      return internal("%{} is {}, but {} gives {}", v.name, print_type(v.type), describe(graph, id),
                      print_type(inferred[i]));
    defined[static_cast<size_t>(out.v)] = true;
  }
  return Status::ok();
}

}  // namespace

bool may_be(const ops::TensorType& declared, const ops::TensorType& inferred) {
  if (declared.dtype != inferred.dtype || declared.container != inferred.container) return false;
  const Shape &a = declared.shape, &b = inferred.shape;
  if (!a.is_ranked() || !b.is_ranked()) return true;
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d)
    if (a[d].is_static() && b[d].is_static() && a[d] != b[d]) return false;
  return true;
}

Status verify(const Graph& graph) {
  std::vector<bool> defined(graph.value_count(), false);
  std::set<std::string_view> names;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const Value& v = graph.value({static_cast<int32_t>(i)});
    if (v.kind == Value::Kind::kResult && !v.producer.valid()) continue;  // erased
    if (v.name.empty()) return internal("value {} has no name", i);
    if (!names.insert(v.name).second) return internal("two values are named %{}", v.name);
    if (v.kind == Value::Kind::kConstant) NEREID_RETURN_IF_ERROR(verify_constant(v));
    defined[i] = v.kind != Value::Kind::kResult;
  }
  for (NodeId id : graph.order()) {
    if (graph.node(id).op == nullptr) return internal("the order holds node {}, which was erased", id.v);
    NEREID_RETURN_IF_ERROR(verify_arguments(graph, id, defined));
    NEREID_RETURN_IF_ERROR(verify_results(graph, id, defined));
  }
  for (ValueId out : graph.outputs()) {
    const Value& v = graph.value(out);
    if (!defined[static_cast<size_t>(out.v)]) return internal("output %{} is never computed", v.name);
    if (v.kind == Value::Kind::kState) return internal("output %{} is a state", v.name);
  }
  return Status::ok();
}

}  // namespace nereid::graph
