// SPDX-License-Identifier: Apache-2.0
// fold_moves: two transpositions in a row are one, two reshapes are one, and a transposition that moves nothing but
// dimensions of size 1 is a reshape, which moves no byte.
#include <algorithm>
#include <numeric>

#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

std::vector<int64_t> permutation_of(const Edit& edit, const Node& node) {
  std::vector<int64_t> permutation = node.attrs.integers("permutation");
  if (permutation.empty())
    for (int64_t d = edit.rank(node.inputs[0]); d-- > 0;) permutation.push_back(d);
  return permutation;
}

// Whether the dimensions that are not 1 stay in order.
bool moves_only_ones(const Shape& shape, const std::vector<int64_t>& permutation) {
  int64_t last = -1;
  for (int64_t d : permutation) {
    if (shape[static_cast<int>(d)] == Dim(1)) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

// [a, b, c, d] -> [a b, c, d] -> [a b, d, c] -> [a, b, d, c], as some exporters transpose matrices: the first of them.
ValueId transposed_heads(const Edit& edit, const Node& node) {
  const Node* swap = edit.made_by(node.inputs[0], "transpose");
  if (swap == nullptr || swap->attrs.integers("permutation") != std::vector<int64_t>{0, 2, 1}) return {};
  const Node* merge = edit.maker(swap->inputs[0]);
  if (merge == nullptr || (merge->op->name != "reshape" && merge->op->name != "reshape_to")) return {};
  const ValueId x = merge->inputs[0];
  if (!edit.is_ranked(x) || edit.rank(x) != 4 || !edit.is_ranked(node.outputs[0]) || edit.rank(node.outputs[0]) != 4)
    return {};
  const Shape &from = edit.type(x).shape, &inner = edit.type(swap->inputs[0]).shape;
  const Shape& to = edit.type(node.outputs[0]).shape;
  const bool fits = same_size(inner[1], from[2]) && same_size(inner[2], from[3]) && same_size(to[0], from[0]) &&
                    same_size(to[1], from[1]) && same_size(to[2], from[3]) && same_size(to[3], from[2]);
  return fits ? x : ValueId{};
}

Result<ValueId> better(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const std::string_view op = node.op->name;
  const ValueId x = node.inputs.empty() ? ValueId{} : node.inputs[0];
  if (op == "transpose" && edit.is_ranked(x)) {
    const std::vector<int64_t> permutation = permutation_of(edit, node);
    if (const Node* before = edit.made_by(x, "transpose"); before != nullptr && edit.is_ranked(before->inputs[0])) {
      const std::vector<int64_t> first = permutation_of(edit, *before);
      std::vector<int64_t> both;
      for (int64_t d : permutation) both.push_back(first[static_cast<size_t>(d)]);
      if (std::ranges::is_sorted(both)) return before->inputs[0];
      return edit.insert(id, "transpose", {before->inputs[0]}, {{"permutation", both}});
    }
    if (!std::ranges::is_sorted(permutation) && moves_only_ones(edit.type(x).shape, permutation)) {
      const auto shape = reshape_shape(edit.type(x).shape, edit.type(node.outputs[0]).shape);
      if (shape) return edit.insert(id, "reshape", {x}, {{"shape", *shape}});
    }
  }
  if (op == "reshape" || op == "reshape_to")
    if (const ValueId heads = transposed_heads(edit, node); heads.valid())
      return edit.insert(id, "transpose", {heads}, {{"permutation", std::vector<int64_t>{0, 1, 3, 2}}});
  const bool resizes = op == "reshape_to" || op == "flatten" || op == "squeeze" || op == "unsqueeze";
  if ((op == "reshape" || resizes) && edit.is_ranked(x)) {
    const Node* before = edit.made_by(x, "reshape");
    const ValueId source = before != nullptr && edit.is_ranked(before->inputs[0]) ? before->inputs[0] : x;
    if (source == x && !resizes) return ValueId{};
    const Shape& to = edit.type(node.outputs[0]).shape;
    if (same_shape(edit.type(source).shape, to)) return source;
    if (const auto shape = reshape_shape(edit.type(source).shape, to))
      return edit.insert(id, "reshape", {source}, {{"shape", *shape}});
    // Sizes that are taken over from x cannot be said of what is before it.
    if (source != x && op == "reshape" &&
        std::ranges::find(node.attrs.integers("shape"), 0) == node.attrs.integers("shape").end())
      return edit.insert(id, "reshape", {source}, node.attrs);
  }
  return ValueId{};
}

}  // namespace

Status fold_moves(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId first : order) {
    NodeId id = first;
    while (id.valid() && g.node(id).op != nullptr && g.node(id).outputs.size() == 1) {
      const auto now = better(edit, id);
      if (now.is_ok() && !now->valid()) break;
      std::string where = edit.where(id);
      const Status done = now.is_ok() ? edit.replace(g.node(id).outputs[0], *now) : now.status();
      std::string what;
      if (done.is_ok()) what = fmt::format("from %{}", g.value(*now).name);
      edit.record(std::move(where), done, std::move(what));
      if (!done.is_ok()) break;
      id = g.value(*now).producer;  // a transposition that became a reshape may have one before it
    }
  }
  return Status::ok();
}

}  // namespace nereid::passes
