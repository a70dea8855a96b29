// SPDX-License-Identifier: Apache-2.0
// inline_if: where an if's condition is known, the branch that is taken stands in its place.
#include <algorithm>
#include <map>

#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::NodeId;
using graph::ValueId;

// Copies the branch's nodes in front of the node; the values that are its results.
Result<std::vector<ValueId>> copy_branch(graph::Graph& g, NodeId before, const graph::Graph& branch) {
  const graph::Node node = g.node(before);
  std::map<int32_t, ValueId> here;
  const size_t captures = static_cast<size_t>(node.attrs.integer("captures"));
  if (branch.inputs().size() != captures) return internal("the branch has {} inputs", branch.inputs().size());
  for (size_t i = 0; i < captures; ++i) here[branch.inputs()[i].v] = node.inputs[node.inputs.size() - captures + i];
  for (ValueId id : branch.constants()) {
    const graph::Value& v = branch.value(id);
    if (v.data.parts.size() != 1) return unsupported("%{} is in several parts", v.name);
    here[id.v] = g.add_constant(v.name, ops::Tensor::copy(v.data.parts[0]));
  }
  for (NodeId id : branch.order()) {
    const graph::Node& inner = branch.node(id);
    std::vector<ValueId> inputs;
    std::vector<std::string> names;
    for (ValueId in : inner.inputs) inputs.push_back(in.valid() ? here.at(in.v) : ValueId{});
    for (ValueId out : inner.outputs) names.push_back(branch.value(out).name);
    NEREID_TRY(const auto made,
               g.insert_node(before, inner.op->name, std::move(inputs), inner.attrs, std::move(names), inner.regions));
    for (size_t i = 0; i < made.size(); ++i) {
      here[inner.outputs[i].v] = made[i];
      if (const auto both = merge_types(g.value(made[i]).type, branch.value(inner.outputs[i]).type))
        g.set_type(made[i], *both);
    }
  }
  std::vector<ValueId> results;
  for (ValueId out : branch.outputs()) results.push_back(here.at(out.v));
  return results;
}

}  // namespace

Status inline_if(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  // Branches may hold further ifs.
  for (bool again = true; again;) {
    again = false;
    const std::vector<NodeId> order = g.order();
    for (NodeId id : order) {
      if (g.node(id).op == nullptr || g.node(id).op->name != "if") continue;
      const auto condition = edit.scalar(g.node(id).inputs[0]);
      if (!condition) continue;
      const std::string where = edit.where(id);
      const std::vector<ValueId> outputs = g.node(id).outputs;
      const bool named = std::ranges::any_of(outputs, [&](ValueId v) { return g.is_output(v); });
      const auto results = copy_branch(g, id, *g.node(id).regions[*condition != 0 ? 0 : 1]);
      if (!results.is_ok()) {
        edit.refused(where, std::string(results.status().message()));
        continue;
      }
      Status done = Status::ok();
      for (size_t i = 0; i < outputs.size() && done.is_ok(); ++i) {
        ValueId to = (*results)[i];
        // An output keeps its name even where the branch gives back what it is given.
        if (named) {
          NEREID_TRY(to, edit.insert(id, "identity", {to}));
        }
        done = edit.replace(outputs[i], to);
      }
      again = again || done.is_ok();
      edit.record(where, done, *condition != 0 ? "then" : "else");
    }
  }
  return Status::ok();
}

}  // namespace nereid::passes
