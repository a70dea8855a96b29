// SPDX-License-Identifier: Apache-2.0
// fold_constants: a node that reads only constants is computed now, by its evaluator, if its results are small.
#include <algorithm>

#include "graph/evaluate.h"
#include "ops/run.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

constexpr double kLargestResultBytes = 1 << 20;  // a folded constant lives in the graph, not in the weight file
constexpr double kMostFlops = 1e8;               // evaluators are slow; this is a fraction of a second

// Why not; ok if the node can be folded. Nodes that read anything but constants are no candidates at all.
Status can_fold(const graph::Graph& g, const graph::Node& node) {
  std::vector<const ops::TensorType*> inputs;
  for (graph::ValueId in : node.inputs) {
    if (in.valid() && g.value(in).data.parts.empty()) return unsupported("%{} carries no data", g.value(in).name);
    inputs.push_back(in.valid() ? &g.value(in).type : nullptr);
  }
  std::vector<ops::TensorType> outputs;
  for (graph::ValueId out : node.outputs) outputs.push_back(g.value(out).type);
  const std::vector<const ConstTensorView*> constants(inputs.size(), nullptr);
  const ops::Cost cost = node.op->cost({.inputs = inputs, .constants = constants, .attrs = node.attrs}, outputs);
  if (cost.bytes_written > kLargestResultBytes)
    return unsupported("its result of {:.0f} bytes is larger than {:.0f}", cost.bytes_written, kLargestResultBytes);
  if (cost.flops > kMostFlops)
    return unsupported("it takes {:.0f} operations, more than {:.0f}", cost.flops, kMostFlops);
  return Status::ok();
}

Status fold(graph::Graph& g, graph::NodeId id) {
  const graph::Node node = g.node(id);
  std::vector<ops::Tensor> inputs;
  std::vector<ConstTensorView> views;
  for (graph::ValueId in : node.inputs) {
    inputs.emplace_back();
    if (in.valid()) {
      NEREID_TRY(inputs.back(), graph::join_parts(g.value(in)));
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    views.push_back(node.inputs[i].valid() ? std::as_const(inputs[i]).view() : ConstTensorView());
  NEREID_TRY(auto results, ops::run(*node.op, views, {}, node.attrs));
  std::vector<std::pair<graph::ValueId, std::string>> names;
  for (size_t i = 0; i < results.size(); ++i) {
    const graph::Value old = g.value(node.outputs[i]);
    const graph::ValueId constant = g.add_constant_bytes(old.name, old.type, std::move(results[i].bytes));
    g.replace_all_uses(node.outputs[i], constant);
    names.emplace_back(constant, old.name);
  }
  g.erase_node(id);
  for (auto& [constant, name] : names) g.rename(constant, std::move(name));
  return Status::ok();
}

}  // namespace

Status fold_constants(graph::Graph& g, PassContext& context) {
  const std::vector<graph::NodeId> order = g.order();
  for (graph::NodeId id : order) {
    const graph::Node& node = g.node(id);
    const bool constant = std::ranges::all_of(node.inputs, [&](graph::ValueId in) {
      return !in.valid() || g.value(in).kind == graph::Value::Kind::kConstant;
    });
    if (!constant) continue;
    std::string where = fmt::format("{} %{}", node.op->name, g.value(node.outputs[0]).name);
    Status folded = can_fold(g, node);
    if (folded.is_ok()) folded = fold(g, id);
    context.records.push_back(
        {.fired = folded.is_ok(), .where = std::move(where), .what = folded.is_ok() ? "computed" : folded.message()});
  }
  return Status::ok();
}

}  // namespace nereid::passes
