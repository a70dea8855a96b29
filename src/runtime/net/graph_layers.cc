// SPDX-License-Identifier: Apache-2.0
// The nodes of a graph as its last run had them: sizes, kernels, times.
#include <unordered_map>
#include <vector>

#include "runtime/net/graph_runner.h"

namespace nereid::runtime {
namespace {

struct BoundStep {
  const NetStep* step;
  int64_t total_ns;
};

ops::TensorType seen_type(const NetValue& v) {
  if (v.kind == NetValue::Kind::kNone) return {DType::f32, Shape::unranked()};
  return v.type;
}

}  // namespace

void GraphRunner::collect_layers(const std::string& path, std::vector<NetLayer>& layers) const {
  std::unordered_map<std::string_view, BoundStep> steps;  // by label, which names the first result
  std::vector<bool> dynamic(graph_.order().size(), false);
  for (const auto& [begin, plans] : plans_) {
    if (plans.empty()) continue;
    const Plan& used = *plans.front();
    for (size_t i = 0; i < used.steps.size(); ++i)
      steps.emplace(used.steps[i]->label, BoundStep{used.steps[i].get(), used.step_ns[i]});
    if (used.ends_dynamic) dynamic[used.end - 1] = true;
  }
  for (const graph::NodeId id : graph_.order()) {
    const graph::Node& node = graph_.node(id);
    NetLayer layer{.path = path,
                   .graph = &graph_,
                   .node = id,
                   .kernel = {},
                   .note = {},
                   .problem = {},
                   .tactic = {},
                   .inputs = {},
                   .outputs = {}};
    for (const graph::ValueId in : node.inputs)
      layer.inputs.push_back(in.valid() ? seen_type(value(in)) : ops::TensorType{DType::f32, Shape::unranked()});
    for (const graph::ValueId out : node.outputs) layer.outputs.push_back(seen_type(value(out)));
    const std::string name = node.outputs.empty() ? std::string() : graph_.value(node.outputs[0]).name;
    if (const auto it = steps.find(fmt::format("{} %{}", node.op->name, name)); it != steps.end()) {
      const NetStep& step = *it->second.step;
      layer.kernel = step.kernel;
      layer.note = step.note;
      layer.problem = step.problem;
      layer.tactic = step.tactic;
      layer.total_ns = it->second.total_ns;
    }
    if (dynamic[graph_.position_of(id)]) {
      layer.kernel = node.regions.empty() ? "reference" : "control";
      layer.note =
          node.regions.empty() ? "only a run can tell the sizes of its results" : "it runs the graphs inside it";
    }
    layers.push_back(std::move(layer));
    for (size_t i = 0; i < node.regions.size(); ++i)
      if (const auto inner = regions_.find({id.v, i}); inner != regions_.end())
        inner->second->collect_layers(fmt::format("{}{}/{}/", path, name, i), layers);
  }
}

}  // namespace nereid::runtime
