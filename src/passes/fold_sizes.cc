// SPDX-License-Identifier: Apache-2.0
// fold_sizes: what a graph computes of its sizes alone is told before the run: every size gets a name, reshapes whose
// sizes are computed say them in an attribute, lists of sizes that turn out to be numbers become constants.
#include <algorithm>
#include <map>

#include "passes/edit.h"
#include "passes/pass_list.h"
#include "passes/symbolic.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

// One node a size, `shape` of the first value that has it: nothing else is kept alive for the sake of its sizes.
class Lookups {
 public:
  Result<ValueId> find(Edit& edit, const Symbolic& sizes, NodeId id, const Dim& size) {
    const Node node = edit.graph().node(id);
    const ops::TensorType type = edit.type(node.outputs[0]);
    const auto source = sizes.source(size);
    if (!source || type.dtype != DType::i64 || type.shape.rank() > 1 || node.outputs.size() != 1) return ValueId{};
    const auto is_lookup = [&](const Node* n) {
      return n != nullptr && n->op->name == "shape" && n->inputs[0] == source->value &&
             n->attrs.integer("start") == source->dim && edit.type(n->outputs[0]).shape == Shape{1};
    };
    auto it = made_.find(size.symbol());
    if (it != made_.end() && edit.maker(it->second) == nullptr) it = made_.erase(it), it = made_.end();  // gone
    if (it == made_.end() && is_lookup(&node)) it = made_.emplace(size.symbol(), node.outputs[0]).first;
    if (it == made_.end()) {
      NEREID_TRY(const ValueId made,
                 edit.insert(id, "shape", {source->value}, {{"start", source->dim}, {"end", source->dim + 1}},
                             "size." + size.symbol()));
      it = made_.emplace(size.symbol(), made).first;
    }
    if (it->second == node.outputs[0]) return ValueId{};
    if (type.shape.rank() == 1) return it->second;
    if (node.op->name == "reshape" && node.inputs[0] == it->second) return ValueId{};
    return edit.insert(id, "reshape", {it->second}, {{"shape", std::vector<int64_t>{}}});
  }

 private:
  std::map<std::string, ValueId> made_;
};

// The constant, reshape or look-up that stands for the node; invalid: none.
Result<ValueId> known_form(Edit& edit, Symbolic& sizes, Lookups& lookups, NodeId id) {
  const Node node = edit.graph().node(id);
  const ValueId out = node.outputs[0];
  const ops::TensorType type = edit.type(out);
  const std::vector<Dim>* list = sizes.values(out);
  if (list != nullptr && node.outputs.size() == 1 && is_integer(type.dtype) && type.shape.is_static() &&
      std::ranges::all_of(*list, &Dim::is_static) && type.shape.elements() == static_cast<int64_t>(list->size())) {
    std::vector<double> numbers;
    for (const Dim& d : *list) {
      if (d.size() > int64_t{1} << 52 || d.size() < -(int64_t{1} << 52)) return ValueId{};
      numbers.push_back(static_cast<double>(d.size()));
    }
    return edit.constant(edit.value(out).name + ".known", type.dtype, type.shape.sizes(), numbers);
  }
  if (list != nullptr && list->size() == 1) {
    NEREID_TRY(const ValueId found, lookups.find(edit, sizes, id, (*list)[0]));
    if (found.valid()) return found;
  }
  if (node.op->name == "reshape_to" && edit.is_ranked(node.inputs[0])) {
    const Shape& from = edit.type(node.inputs[0]).shape;
    if (const auto shape = reshape_shape(from, type.shape))
      return edit.insert(id, "reshape", {node.inputs[0]}, {{"shape", *shape}});
  }
  return ValueId{};
}

}  // namespace

Status fold_sizes(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  Symbolic sizes(edit);
  Lookups lookups;
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).outputs.empty()) continue;
    sizes.visit(id);
    const auto now = known_form(edit, sizes, lookups, id);
    if (now.is_ok() && !now->valid()) continue;
    std::string where = edit.where(id);
    if (now.is_ok()) sizes.moved(g.node(id).outputs[0], *now);
    const Status done = now.is_ok() ? edit.replace(g.node(id).outputs[0], *now) : now.status();
    edit.record(std::move(where), done, done.is_ok() ? edit.type(*now).to_string() : "");
  }
  return Status::ok();
}

}  // namespace nereid::passes
