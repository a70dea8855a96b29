// SPDX-License-Identifier: Apache-2.0
// fuse_softmax: e^(x - largest) / sum of it along one axis, with or without the largest, is softmax.
#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

// The one axis that a reduction goes along, from 0 on; nothing if there are more or dimensions do not stay.
std::optional<int64_t> one_axis(const Edit& edit, const Node& node) {
  if (!node.attrs.boolean("keepdims") || !node.inputs[1].valid() || !edit.is_ranked(node.inputs[0]))
    return std::nullopt;
  const auto axes = edit.integers(node.inputs[1]);
  if (!axes || axes->size() != 1) return std::nullopt;
  return (*axes)[0] < 0 ? (*axes)[0] + edit.rank(node.inputs[0]) : (*axes)[0];
}

}  // namespace

Status fuse_softmax(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).op->name != "div") continue;
    const Node& node = g.node(id);
    const Node* exp = edit.made_by(node.inputs[0], "exp");
    const Node* sum = edit.made_by(node.inputs[1], "reduce_sum");
    if (exp == nullptr || sum == nullptr || sum->inputs[0] != node.inputs[0]) continue;
    const auto axis = one_axis(edit, *sum);
    if (!axis) continue;
    ValueId x = exp->inputs[0];
    if (const Node* sub = edit.made_by(x, "sub"))
      if (const Node* largest = edit.made_by(sub->inputs[1], "reduce_max");
          largest != nullptr && largest->inputs[0] == sub->inputs[0] && one_axis(edit, *largest) == axis)
        x = sub->inputs[0];
    std::string where = edit.where(id);
    const ValueId out = node.outputs[0];
    const auto now = edit.insert(id, "softmax", {x}, {{"axis", *axis}});
    const Status done = now.is_ok() ? edit.replace(out, *now) : now.status();
    edit.record(std::move(where), done, fmt::format("softmax of %{}", g.value(x).name));
  }
  return Status::ok();
}

}  // namespace nereid::passes
