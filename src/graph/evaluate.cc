// SPDX-License-Identifier: Apache-2.0
// Running a graph with the ops' evaluators.
#include "graph/evaluate.h"

#include <cstring>

#include "graph/text.h"
#include "ops/run.h"

namespace nereid::graph {
namespace {

// Sizes of a bound tensor against a declared type; learns symbols on the way.
Status match(const Value& value, DType dtype, std::span<const int64_t> sizes, std::map<std::string, int64_t>& symbols) {
  auto refuse = [&](std::string_view why) {
    return invalid_argument("%{} is {}, but the tensor given is {}{}{}", value.name, print_type(value.type),
                            dtype_name(dtype), Shape::of(sizes).to_string(), why);
  };
  if (dtype != value.type.dtype || static_cast<int>(sizes.size()) != value.type.shape.rank()) return refuse("");
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Dim& dim = value.type.shape[static_cast<int>(d)];
    if (dim.is_static()) {
      if (dim.size() != sizes[d]) return refuse("");
      continue;
    }
    if (dim.is_unknown()) continue;
    auto [it, fresh] = symbols.emplace(dim.symbol(), sizes[d]);
    if (!fresh && it->second != sizes[d]) return refuse(fmt::format(" and {} is already {}", dim.symbol(), it->second));
  }
  return Status::ok();
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const Bindings& bindings)
      : graph_(graph), bindings_(bindings), slots_(graph.value_count()) {
    for (NodeId n : graph.order())
      for (ValueId in : graph.node(n).inputs)
        if (in.valid()) slot(in).last_reader = n;
  }

  Result<std::vector<ops::Tensor>> run(const NodeHook& hook) {
    NEREID_RETURN_IF_ERROR(bind());
    for (NodeId n : graph_.order()) NEREID_RETURN_IF_ERROR(step(n, hook));
    std::vector<ops::Tensor> outputs;
    for (ValueId out : graph_.outputs()) outputs.push_back(copy(slot(out).view));
    return outputs;
  }

 private:
  struct Slot {
    ConstTensorView view;
    TensorView state;
    ops::Tensor owned;
    NodeId last_reader;
  };
  Slot& slot(ValueId id) { return slots_[static_cast<size_t>(id.v)]; }

  static ops::Tensor copy(const ConstTensorView& view) {
    ops::Tensor t{view.dtype, view.sizes, std::vector<std::byte>(static_cast<size_t>(view.bytes()))};
    if (!t.bytes.empty()) std::memcpy(t.bytes.data(), view.data, t.bytes.size());
    return t;
  }

  template <typename View>
  Result<View> find(const std::map<std::string, View, std::less<>>& given, const Value& v, std::string_view kind) {
    auto it = given.find(v.name);
    if (it == given.end()) return not_found("the graph's {} %{} ({}) is not given", kind, v.name, print_type(v.type));
    NEREID_RETURN_IF_ERROR(match(v, it->second.dtype, it->second.sizes, symbols_));
    return it->second;
  }

  Status bind() {
    for (ValueId id : graph_.inputs()) {
      NEREID_TRY(slot(id).view, find(bindings_.inputs, graph_.value(id), "input"));
    }
    for (ValueId id : graph_.states()) {
      NEREID_TRY(slot(id).state, find(bindings_.states, graph_.value(id), "state"));
      slot(id).view = slot(id).state;
    }
    for (ValueId id : graph_.constants()) {
      const Value& v = graph_.value(id);
      if (v.data.parts.empty()) {
        NEREID_TRY(slot(id).view, find(bindings_.constants, v, "constant"));
      } else if (v.data.parts.size() == 1) {
        slot(id).view = v.data.parts[0];
      } else {
        NEREID_TRY(slot(id).owned, join_parts(v));
        slot(id).view = std::as_const(slot(id).owned).view();
      }
    }
    return Status::ok();
  }

  Status step(NodeId id, const NodeHook& hook) {
    const Node& node = graph_.node(id);
    const std::string where = fmt::format("{} %{}", node.op->name, graph_.value(node.outputs[0]).name);
    std::vector<ConstTensorView> inputs;
    std::vector<TensorView*> states;
    for (ValueId in : node.inputs) {
      inputs.push_back(in.valid() ? slot(in).view : ConstTensorView());
      states.push_back(in.valid() && slot(in).state.data != nullptr ? &slot(in).state : nullptr);
    }
    NEREID_TRY(auto results, ops::run(*node.op, inputs, states, node.attrs).with(where));
    std::vector<ConstTensorView> views;
    for (size_t i = 0; i < results.size(); ++i) {
      const ValueId out = node.outputs[i];
      NEREID_RETURN_IF_ERROR(match(graph_.value(out), results[i].dtype, results[i].sizes, symbols_).with(where));
      slot(out).owned = std::move(results[i]);
      slot(out).view = std::as_const(slot(out).owned).view();
      views.push_back(slot(out).view);
    }
    if (hook) hook(graph_, id, views);
    for (ValueId in : node.inputs)
      if (in.valid() && slot(in).last_reader == id && !graph_.is_output(in)) slot(in).owned = {};
    return Status::ok();
  }

  const Graph& graph_;
  const Bindings& bindings_;
  std::vector<Slot> slots_;
  std::map<std::string, int64_t> symbols_;
};

}  // namespace

Result<std::vector<ops::Tensor>> evaluate(const Graph& graph, const Bindings& bindings, const NodeHook& hook) {
  return Interpreter(graph, bindings).run(hook);
}

Result<ops::Tensor> join_parts(const Value& constant) {
  if (constant.data.parts.empty()) return not_found("the constant %{} carries no data", constant.name);
  NEREID_TRY(ops::Tensor whole, ops::Tensor::zeros(constant.type.dtype, constant.type.shape.sizes()));
  size_t at = 0;
  for (const ConstTensorView& part : constant.data.parts) {
    const size_t bytes = static_cast<size_t>(part.bytes());
    NEREID_CHECK(at + bytes <= whole.bytes.size());
    if (bytes > 0) std::memcpy(whole.bytes.data() + at, part.data, bytes);
    at += bytes;
  }
  return whole;
}

}  // namespace nereid::graph
