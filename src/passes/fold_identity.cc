// SPDX-License-Identifier: Apache-2.0
// fold_identity: nodes that give back what they are given: identity, casts to the same type, reshapes to the same
// shape, transpositions that leave every dimension in place, scaling by 1, splitting or joining one part.
#include <algorithm>
#include <numeric>

#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

bool gives_back_its_input(const graph::Graph& g, const graph::Node& node) {
  const std::string_view op = node.op->name;
  if (op == "identity") return true;
  if (op == "scale") return node.attrs.real("factor") == 1.0;
  if (op == "split" || op == "concat") return node.inputs.size() == 1 && node.outputs.size() == 1;
  if (op == "cast" || op == "reshape") return g.value(node.inputs[0]).type == g.value(node.outputs[0]).type;
  if (op != "transpose") return false;
  const std::vector<int64_t>& permutation = node.attrs.integers("permutation");
  return std::ranges::is_sorted(permutation) &&
         (!permutation.empty() || g.value(node.inputs[0]).type.shape.rank() == 1);
}

}  // namespace

Status fold_identity(graph::Graph& g, PassContext& context) {
  const std::vector<graph::NodeId> order = g.order();
  for (graph::NodeId id : order) {
    const graph::Node& node = g.node(id);
    if (!gives_back_its_input(g, node)) continue;
    const graph::ValueId from = node.outputs[0];
    const graph::ValueId to = node.inputs[0];
    const std::string name = g.value(from).name;
    std::string where = fmt::format("{} %{}", node.op->name, name);
    // An output of the graph keeps its name: its source takes the name over if nothing else depends on that one's.
    const bool output = g.is_output(from);
    if (output && (g.value(to).kind != graph::Value::Kind::kResult || g.is_output(to))) {
      context.records.push_back(
          {.fired = false, .where = std::move(where), .what = "the graph's output would lose its name"});
      continue;
    }
    context.records.push_back(
        {.fired = true, .where = std::move(where), .what = fmt::format("%{} in its place", g.value(to).name)});
    g.replace_all_uses(from, to);
    g.erase_node(id);
    if (output) g.rename(to, name);
  }
  return Status::ok();
}

}  // namespace nereid::passes
