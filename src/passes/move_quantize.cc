// SPDX-License-Identifier: Apache-2.0
// move_quantize: what only moves elements, or takes the largest, works on codes: dequantising moves behind it, and
// quantising before it. What is quantised right after it was dequantised with the same scale is the codes themselves.
#include <algorithm>

#include "passes/pass_list.h"
#include "passes/quantized.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

// Nodes of one moved operand, the first, and one result.
bool moves(const Node& node) {
  static constexpr std::string_view kMoves[] = {"reshape",  "reshape_to", "flatten", "squeeze", "unsqueeze",
                                                "identity", "transpose",  "slice",   "gather"};
  if (node.outputs.size() != 1) return false;
  return std::ranges::find(kMoves, node.op->name) != std::end(kMoves);
}
// Largest codes stand for largest numbers.
bool takes_largest(const Node& node) {
  if (node.outputs.size() != 1) return false;
  if (node.op->name == "max_pool") return !node.attrs.boolean("with_indices");
  return (node.op->name == "pool_last" || node.op->name == "global_pool_last") && node.attrs.text("kind") == "max";
}

// Where the scales' axis is after the node; nothing if it is lost.
std::optional<int64_t> axis_after(const Edit& edit, const Node& node, const Codes& codes) {
  if (codes.one) return 1;
  if (node.op->name == "identity") return codes.axis;
  if (node.op->name != "transpose") return std::nullopt;
  std::vector<int64_t> permutation = node.attrs.integers("permutation");
  if (permutation.empty())
    for (int64_t d = edit.rank(node.inputs[0]); d-- > 0;) permutation.push_back(d);
  return std::ranges::find(permutation, codes.axis) - permutation.begin();
}

// The node on codes and dequantising behind it; invalid: its operands are not dequantised, or nothing is gained.
Result<ValueId> sink(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const std::string name = edit.value(node.outputs[0]).name + ".codes";
  if (node.op->name == "concat") {
    std::vector<ValueId> parts;
    std::optional<Grid> grid;
    std::optional<Codes> first;
    for (ValueId in : node.inputs) {
      const auto codes = dequantised(edit, in);
      const auto now = codes ? grid_of(edit, *codes) : std::nullopt;
      if (!now || (grid && *grid != *now)) return ValueId{};
      grid = now;
      if (!first) first = codes;
      parts.push_back(codes->codes);
    }
    if (!first) return ValueId{};
    NEREID_TRY(const ValueId y, edit.insert(id, "concat", std::move(parts), node.attrs, name));
    return edit.insert(id, "dequantize_linear", {y, first->scale, first->zero});
  }
  if (!moves(node) && !takes_largest(node)) return ValueId{};
  const auto codes = dequantised(edit, node.inputs[0]);
  if (!codes) return ValueId{};
  if (takes_largest(node) && !grid_of(edit, *codes)) return ValueId{};
  const auto axis = axis_after(edit, node, *codes);
  if (!axis) return ValueId{};
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = codes->codes;
  NEREID_TRY(const ValueId y, edit.insert(id, node.op->name, std::move(inputs), node.attrs, name));
  return edit.insert(id, "dequantize_linear", {y, codes->scale, codes->zero}, {{"axis", *axis}});
}

// The codes that a node quantises again; or the node before it on quantised operands.
Result<ValueId> raise(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const auto codes = quantised(edit, node);
  const auto grid = codes ? grid_of(edit, *codes) : std::nullopt;
  if (!grid) return ValueId{};
  const ValueId x = node.inputs[0];
  if (const auto before = dequantised(edit, x))
    if (const auto same = grid_of(edit, *before); same && *same == *grid) return before->codes;
  if (edit.maker(x) == nullptr || !edit.single_use(x)) return ValueId{};
  const Node mover = *edit.maker(x);
  const NodeId mover_id = edit.value(x).producer;
  const std::string name = edit.value(x).name + ".codes";
  const bool joins = mover.op->name == "concat";
  if (!joins && !(moves(mover) && mover.op->name != "gather" && mover.op->name != "slice") && !takes_largest(mover))
    return ValueId{};
  std::vector<ValueId> inputs = mover.inputs;
  for (size_t i = 0; i < (joins ? inputs.size() : 1); ++i) {
    if (!edit.is_ranked(inputs[i]) || edit.is_constant(inputs[i])) return ValueId{};
    NEREID_TRY(inputs[i],
               edit.insert(mover_id, "quantize_linear", {inputs[i], node.inputs[1], node.inputs[2]}, node.attrs, name));
  }
  return edit.insert(id, mover.op->name, std::move(inputs), mover.attrs);
}

}  // namespace

Status move_quantize(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const auto visit = [&](NodeId id, Result<ValueId> (*move)(Edit&, NodeId), std::string_view what) {
    if (g.node(id).op == nullptr || g.node(id).outputs.empty() || !g.node(id).regions.empty()) return;
    std::string where = edit.where(id);
    const auto now = move(edit, id);
    if (now.is_ok() && !now->valid()) return;
    const Status done = now.is_ok() ? edit.replace(g.node(id).outputs[0], *now) : now.status();
    edit.record(std::move(where), done, std::string(what));
  };
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) visit(id, sink, "on codes");
  // From the end to the front: what is raised over one node may rise over the next.
  bool again = true;
  for (int round = 0; round < 16 && again; ++round) {
    const size_t before = context.records.size();
    const std::vector<NodeId> back = g.order();
    for (auto it = back.rbegin(); it != back.rend(); ++it) visit(*it, raise, "of codes");
    again = before != context.records.size();
  }
  return Status::ok();
}

}  // namespace nereid::passes
