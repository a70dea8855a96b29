// SPDX-License-Identifier: Apache-2.0
// fuse_epilogue: an activation, one number that scales or shifts, or a sum right after a convolution or dense layer is
// done to its sums before they are stored: y = scale act(sums + residual) + shift, or scale act(sums) + shift +
// residual.
#include <cmath>

#include "passes/edit.h"
#include "passes/elementwise.h"
#include "passes/layer_inputs.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

bool is_layer(const Node* node) {
  if (node == nullptr) return false;
  const std::string_view op = node->op->name;
  return op == "dense" || op == "conv_last" || op == "conv_transpose_last";
}

// Another layer that comes later and can take the sum in should: its operands are nearer.
bool later_layer(const Edit& edit, ValueId r, NodeId layer) {
  const Node* other = edit.maker(r);
  const graph::Graph& g = edit.graph();
  return is_layer(other) && !other->inputs[kResidual].valid() && edit.single_use(r) &&
         g.position_of(g.value(r).producer) > g.position_of(layer);
}

// What one number does to y: s y + t.
struct Scalar {
  double scale = 1, shift = 0;
};
std::optional<Scalar> scalar_of(const Edit& edit, const Node& user, ValueId y) {
  const std::string_view op = user.op->name;
  if (op != "mul" && op != "add" && op != "sub") return std::nullopt;
  const size_t at = user.inputs[0] == y ? 0 : 1;
  const auto number = edit.scalar(user.inputs[1 - at]);
  if (user.inputs[at] != y || !number || !std::isfinite(*number)) return std::nullopt;
  if (op == "mul") return Scalar{.scale = *number};
  if (op == "add") return Scalar{.shift = *number};
  return at == 0 ? Scalar{.shift = -*number} : Scalar{.scale = -1, .shift = *number};
}

// The layer with the node after it built in; invalid: that is nothing to be built in.
Result<ValueId> grown(Edit& edit, NodeId layer_id, NodeId user_id) {
  const Node layer = edit.graph().node(layer_id);
  const Node user = edit.graph().node(user_id);
  const ValueId y = layer.outputs[0];
  if (user.outputs.size() != 1) return ValueId{};
  ops::Attrs attrs = layer.attrs;
  std::vector<ValueId> inputs = layer.inputs;
  const bool scaled = attrs.real("scale") != 1 || attrs.real("shift") != 0;
  const bool plain = attrs.text("activation") == "none" && !scaled;
  // Layers of codes have no scale of their own behind the activation.
  if (const auto number = scalar_of(edit, user, y); number && edit.is_constant(layer.inputs[kW])) {
    if (!edit.is_ranked(user.outputs[0]) || !edit.is_ranked(y) || edit.rank(user.outputs[0]) != edit.rank(y) ||
        attrs.boolean("residual_last"))
      return ValueId{};
    attrs.set("scale", attrs.real("scale") * number->scale);
    attrs.set("shift", attrs.real("shift") * number->scale + number->shift);
    return edit.insert(user_id, layer.op->name, std::move(inputs), std::move(attrs));
  }
  if (user.op->name == "add") {
    const ValueId r = user.inputs[user.inputs[0] == y ? 1 : 0];
    if (r == y || layer.inputs[kResidual].valid()) return ValueId{};
    if (edit.type(r).dtype != edit.type(y).dtype) return ValueId{};
    if (!same_shape(edit.type(r).shape, edit.type(y).shape))
      return unsupported("%{} ({}) may broadcast", edit.value(r).name, edit.type(r).to_string());
    if (later_layer(edit, r, layer_id)) return ValueId{};
    inputs[kResidual] = r;
    attrs.set("residual_last", !plain);
    return edit.insert(user_id, layer.op->name, std::move(inputs), std::move(attrs));
  }
  const auto activation = activation_of(edit, user);
  if (!activation || user.inputs[0] != y) return ValueId{};
  if (scaled) return ValueId{};
  if (!plain || attrs.boolean("residual_last"))
    return unsupported("the layer has an activation already, {}", attrs.text("activation"));
  attrs.set("activation", std::string(activation->name));
  attrs.set("alpha", activation->alpha);
  attrs.set("beta", activation->beta);
  return edit.insert(user_id, layer.op->name, std::move(inputs), std::move(attrs));
}

}  // namespace

Status fuse_epilogue(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId first : order) {
    NodeId id = first;
    while (g.node(id).op != nullptr && is_layer(&g.node(id)) && edit.single_use(g.node(id).outputs[0])) {
      const NodeId user = g.users(g.node(id).outputs[0])[0];
      std::string where = edit.where(user);
      const ValueId out = g.node(user).outputs.empty() ? ValueId{} : g.node(user).outputs[0];
      const auto now = grown(edit, id, user);
      if (now.is_ok() && !now->valid()) break;
      const Status done = now.is_ok() ? edit.replace(out, *now) : now.status();
      std::string what;
      if (done.is_ok()) what = fmt::format("into the {}", edit.maker(*now)->op->name);
      edit.record(std::move(where), done, std::move(what));
      if (!done.is_ok()) break;
      id = g.value(*now).producer;
    }
  }
  return Status::ok();
}

}  // namespace nereid::passes
