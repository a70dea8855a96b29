// SPDX-License-Identifier: Apache-2.0
// The reference interpreter for graphs whose values may be anything and whose nodes may run graphs.
#include <cstring>

#include "graph/control.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/run.h"

namespace nereid::graph {
namespace {

class AnyInterpreter {
 public:
  AnyInterpreter(const Graph& graph, const DatumHook& hook) : graph_(graph), hook_(hook), slots_(graph.value_count()) {
    for (NodeId n : graph.order())
      for (ValueId in : graph.node(n).inputs)
        if (in.valid()) slot(in).last_reader = n;
    for (ValueId out : graph.outputs()) slot(out).is_output = true;
  }

  // One value an input of the graph.
  Result<std::vector<ops::Datum>> run(std::span<const ops::Datum* const> inputs) {
    NEREID_CHECK(inputs.size() == graph_.inputs().size());
    for (size_t i = 0; i < inputs.size(); ++i) slot(graph_.inputs()[i]).datum = inputs[i];
    for (NodeId n : graph_.order()) NEREID_RETURN_IF_ERROR(step(n));
    std::vector<ops::Datum> outputs;
    for (ValueId out : graph_.outputs()) {
      NEREID_TRY(const ops::Datum* datum, materialise(out));
      outputs.push_back(*datum);
    }
    return outputs;
  }

 private:
  struct Slot {
    const ops::Datum* datum = nullptr;  // an input's, or `owned`
    ops::Datum owned;
    NodeId last_reader;
    bool is_output = false;
  };
  Slot& slot(ValueId id) { return slots_[static_cast<size_t>(id.v)]; }

  // Constants are seen where they lie; only ops that want whole values get a copy, which is kept.
  Result<const ops::Datum*> materialise(ValueId id) {
    Slot& s = slot(id);
    if (s.datum != nullptr) return s.datum;
    const Value& v = graph_.value(id);
    if (v.kind != Value::Kind::kConstant) return internal("%{} is read before it is computed", v.name);
    if (v.data.parts.size() == 1) {
      s.owned = ops::Tensor::copy(v.data.parts[0]);
    } else {
      NEREID_TRY(ops::Tensor whole, join_parts(v));
      s.owned = std::move(whole);
    }
    s.datum = &s.owned;
    return s.datum;
  }

  Result<std::vector<ops::Datum>> compute(const Node& node) {
    if (node.op->evaluate != nullptr) {
      std::vector<ConstTensorView> views;
      for (ValueId in : node.inputs) {
        if (!in.valid()) {
          views.emplace_back();
          continue;
        }
        const Value& v = graph_.value(in);
        if (slot(in).datum == nullptr && v.data.parts.size() == 1) {
          views.push_back(v.data.parts[0]);
          continue;
        }
        NEREID_TRY(const ops::Datum* datum, materialise(in));
        if (!datum->is_tensor())
          return invalid_argument("%{} should be a tensor, but is {}", v.name, ops::type_of(*datum).to_string());
        views.push_back(datum->view());
      }
      NEREID_TRY(std::vector<ops::Tensor> tensors, ops::run(*node.op, views, {}, node.attrs));
      std::vector<ops::Datum> results;
      for (ops::Tensor& t : tensors) results.emplace_back(std::move(t));
      return results;
    }
    std::vector<const ops::Datum*> inputs;
    for (ValueId in : node.inputs) {
      inputs.push_back(nullptr);
      if (in.valid()) {
        NEREID_TRY(inputs.back(), materialise(in));
      }
    }
    if (node.regions.empty()) return ops::run_any(*node.op, inputs, node.attrs);
    return run_control(node, inputs, [&](size_t index, std::span<const ops::Datum* const> values) {
      return AnyInterpreter(*node.regions[index], hook_).run(values);
    });
  }

  Status step(NodeId id) {
    const Node& node = graph_.node(id);
    const std::string where = node.outputs.empty()
                                  ? std::string(node.op->name)
                                  : fmt::format("{} %{}", node.op->name, graph_.value(node.outputs[0]).name);
    NEREID_TRY(std::vector<ops::Datum> results, compute(node).with(where));
    if (results.size() < node.outputs.size())
      return internal("{}: {} results where {} are wanted", where, results.size(), node.outputs.size());
    if (hook_) hook_(graph_, id, results);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Slot& s = slot(node.outputs[i]);
      s.owned = std::move(results[i]);
      s.datum = &s.owned;
    }
    for (ValueId in : node.inputs)
      if (in.valid() && slot(in).last_reader == id && !slot(in).is_output && slot(in).datum == &slot(in).owned)
        slot(in).owned = {};
    return Status::ok();
  }

  const Graph& graph_;
  const DatumHook& hook_;
  std::vector<Slot> slots_;
};

}  // namespace

Status check_input(const Value& input, const ops::TensorType& found) {
  using ops::Container;
  const ops::TensorType& wanted = input.type;
  bool fits = false;
  switch (wanted.container) {
    case Container::kNone:
      fits = found.is_tensor() && found.dtype == wanted.dtype;
      if (fits && wanted.shape.is_ranked()) {
        fits = wanted.shape.rank() == found.shape.rank();
        for (int d = 0; fits && d < wanted.shape.rank(); ++d)
          fits = !wanted.shape[d].is_static() || wanted.shape[d] == found.shape[d];
      }
      break;
    case Container::kOptional:
      fits = found.is_tensor() || found.container == Container::kOptional;
      break;
    case Container::kOptionalSequence:
      fits = found.container == Container::kSequence || found.container == Container::kOptional;
      break;
    case Container::kSequence:
    case Container::kSequenceOfMaps:
      fits = found.container == Container::kSequence || found.container == Container::kSequenceOfMaps;
      break;
    case Container::kMap:
      fits = found.container == Container::kMap;
      break;
  }
  if (fits) return Status::ok();
  return invalid_argument("input '{}' is {}, but the value given is {}", input.name, wanted.to_string(),
                          found.to_string());
}

Result<std::vector<ops::Datum>> evaluate_any(const Graph& graph,
                                             const std::map<std::string, ops::Datum, std::less<>>& inputs,
                                             const DatumHook& hook) {
  std::vector<const ops::Datum*> values;
  for (ValueId id : graph.inputs()) {
    const Value& v = graph.value(id);
    const auto it = inputs.find(v.name);
    if (it == inputs.end()) return not_found("the input %{} ({}) is not given", v.name, v.type.to_string());
    NEREID_RETURN_IF_ERROR(check_input(v, ops::type_of(it->second)));
    values.push_back(&it->second);
  }
  return AnyInterpreter(graph, hook).run(values);
}

}  // namespace nereid::graph
