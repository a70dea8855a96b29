// SPDX-License-Identifier: Apache-2.0
// fold_identity: nodes that give back what they are given: identity, casts to the same type, moves that leave
// everything in place, sums with 0 and products with 1, splitting or joining one part, dropout outside training.
#include <algorithm>

#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::ValueId;

bool all_are(const Edit& edit, ValueId list, int64_t wanted) {
  if (!list.valid()) return true;
  const auto values = edit.integers(list);
  return values && std::ranges::all_of(*values, [&](int64_t v) { return v == wanted; });
}

bool keeps_order(const Edit& edit, const Node& node) {
  const std::vector<int64_t>& permutation = node.attrs.integers("permutation");
  if (permutation.empty()) return edit.is_ranked(node.inputs[0]) && edit.rank(node.inputs[0]) == 1;
  return std::ranges::is_sorted(permutation);
}

// Which input the node gives back; invalid if it does more.
ValueId given_back(const Edit& edit, const Node& node) {
  const std::string_view op = node.op->name;
  const auto only = [&](bool condition) { return condition ? node.inputs[0] : ValueId{}; };
  if (op == "identity") return node.inputs[0];
  if (op == "scale") return only(node.attrs.real("factor") == 1.0);
  if (op == "split" || op == "split_along" || op == "concat" || op == "sum" || op == "max" || op == "min" ||
      op == "mean")
    return only((op.starts_with("split") || node.inputs.size() == 1) && node.outputs.size() == 1);
  if (op == "transpose") return only(keeps_order(edit, node));
  if (op == "dropout") {
    const ValueId training = node.inputs[2];
    return only((!training.valid() || edit.scalar(training) == 0.0) && edit.graph().users(node.outputs[1]).empty() &&
                !edit.graph().is_output(node.outputs[1]));
  }
  if (node.inputs.empty() || !node.inputs[0].valid()) return {};
  if (op == "cast") return only(edit.type(node.inputs[0]).dtype == edit.type(node.outputs[0]).dtype);
  const auto same_type = [&](ValueId in) {
    return in.valid() && edit.type(in).is_tensor() && edit.type(in).dtype == edit.type(node.outputs[0]).dtype &&
           same_shape(edit.type(in).shape, edit.type(node.outputs[0]).shape);
  };
  if (op == "reshape" || op == "reshape_to" || op == "flatten" || op == "squeeze" || op == "unsqueeze" ||
      op == "expand")
    return only(same_type(node.inputs[0]) ||
                (op == "reshape" && edit.type(node.inputs[0]) == edit.type(node.outputs[0])));
  if (op == "slice") return only(same_type(node.inputs[0]) && all_are(edit, node.inputs[4], 1));
  if (op == "pad") return only(edit.is_constant(node.inputs[1]) && all_are(edit, node.inputs[1], 0));
  if (op == "tile") return only(edit.is_constant(node.inputs[1]) && all_are(edit, node.inputs[1], 1));
  if (op == "add" || op == "sub" || op == "mul" || op == "div" || op == "pow") {
    const double neutral = op == "add" || op == "sub" ? 0 : 1;
    // -0 + 0 is 0: the one bit that this may change.
    if (edit.scalar(node.inputs[1]) == neutral && same_type(node.inputs[0])) return node.inputs[0];
    if (node.op->commutative && edit.scalar(node.inputs[0]) == neutral && same_type(node.inputs[1]))
      return node.inputs[1];
  }
  return {};
}

}  // namespace

Status fold_identity(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<graph::NodeId> order = g.order();
  for (graph::NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).outputs.empty()) continue;
    const ValueId to = given_back(edit, g.node(id));
    if (!to.valid()) continue;
    std::string where = edit.where(id);
    std::string what = fmt::format("%{} in its place", g.value(to).name);
    edit.record(std::move(where), edit.replace(g.node(id).outputs[0], to), std::move(what));
  }
  return Status::ok();
}

}  // namespace nereid::passes
