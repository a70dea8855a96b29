// SPDX-License-Identifier: Apache-2.0
// fuse_normalization: layer norm and rms norm that exporters write as means, squares and roots; their scale and bias.
#include <algorithm>

#include "passes/expression.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

// The first of the trailing dimensions that a mean goes over, counted from the end; 0: it is another mean.
int64_t trailing_axis(const Edit& edit, const Node& mean) {
  if (!mean.attrs.boolean("keepdims") || !edit.is_ranked(mean.inputs[0])) return 0;
  const int64_t rank = edit.rank(mean.inputs[0]);
  auto axes = mean.inputs[1].valid() ? edit.integers(mean.inputs[1]) : std::nullopt;
  if (!axes || axes->empty()) return 0;
  for (int64_t& a : *axes) a = a < 0 ? a + rank : a;
  std::ranges::sort(*axes);
  for (size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != rank - static_cast<int64_t>(axes->size() - i)) return 0;
  return -static_cast<int64_t>(axes->size());
}

// v = d^2: the d.
ValueId squared(const Edit& edit, ValueId v) {
  if (const Node* pow = edit.made_by(v, "pow"); pow != nullptr && edit.is_scalar(pow->inputs[1], 2))
    return pow->inputs[0];
  if (const Node* mul = edit.made_by(v, "mul"); mul != nullptr && mul->inputs[0] == mul->inputs[1])
    return mul->inputs[0];
  return {};
}

struct Rooted {
  ValueId square;  // what is averaged
  double epsilon = 0;
  int64_t axis = 0;
};

// sqrt(mean(square) + epsilon)
std::optional<Rooted> root_of_mean(const Edit& edit, ValueId v) {
  const Node* sum = edit.made_by(v, "add");
  if (sum == nullptr) return std::nullopt;
  for (size_t i : {0, 1}) {
    const auto epsilon = edit.scalar(sum->inputs[i]);
    const Node* mean = edit.made_by(sum->inputs[1 - i], "reduce_mean");
    if (!epsilon || mean == nullptr || *epsilon < 0) continue;
    if (const int64_t axis = trailing_axis(edit, *mean); axis != 0) return Rooted{mean->inputs[0], *epsilon, axis};
  }
  return std::nullopt;
}

// numerator / sqrt(...) however it is written.
std::optional<std::pair<ValueId, Rooted>> normalised(const Edit& edit, const Node& node) {
  const std::string_view op = node.op->name;
  if (op == "div") {
    ValueId under;
    if (const Node* s = edit.made_by(node.inputs[1], "sqrt")) under = s->inputs[0];
    if (const Node* p = edit.made_by(node.inputs[1], "pow"); p != nullptr && edit.is_scalar(p->inputs[1], 0.5))
      under = p->inputs[0];
    if (const auto root = root_of_mean(edit, under)) return std::pair(node.inputs[0], *root);
  }
  if (op == "mul")
    for (size_t i : {0, 1}) {
      ValueId under;
      if (const Node* p = edit.made_by(node.inputs[i], "pow"); p != nullptr && edit.is_scalar(p->inputs[1], -0.5))
        under = p->inputs[0];
      if (const Node* r = edit.made_by(node.inputs[i], "reciprocal"))
        if (const Node* s = edit.made_by(r->inputs[0], "sqrt")) under = s->inputs[0];
      if (const Node* d = edit.made_by(node.inputs[i], "div"); d != nullptr && edit.is_scalar(d->inputs[0], 1))
        if (const Node* s = edit.made_by(d->inputs[1], "sqrt")) under = s->inputs[0];
      if (const auto root = root_of_mean(edit, under)) return std::pair(node.inputs[1 - i], *root);
    }
  return std::nullopt;
}

// x - mean(x): the x.
ValueId centred(const Edit& edit, ValueId v, int64_t axis) {
  const Node* sub = edit.made_by(v, "sub");
  if (sub == nullptr) return {};
  const Node* mean = edit.made_by(sub->inputs[1], "reduce_mean");
  return mean != nullptr && mean->inputs[0] == sub->inputs[0] && trailing_axis(edit, *mean) == axis ? sub->inputs[0]
                                                                                                    : ValueId{};
}

struct Norm {
  ValueId x;
  bool rms = false;
  Rooted root;
};

std::optional<Norm> find(const Edit& edit, const Node& node) {
  const auto parts = normalised(edit, node);
  if (!parts) return std::nullopt;
  const auto& [numerator, root] = *parts;
  const ValueId base = squared(edit, root.square);
  if (!base.valid()) return std::nullopt;
  const ValueId x = centred(edit, numerator, root.axis);
  if (x.valid() && (base == numerator || centred(edit, base, root.axis) == x)) return Norm{x, false, root};
  if (base == numerator) return Norm{base, true, root};
  return std::nullopt;
}

// The one user of v that is this op with a constant that broadcasts over the normalised dimensions alone.
struct Factor {
  NodeId node;
  ValueId constant;
};
std::optional<Factor> next(const Edit& edit, ValueId v, std::string_view op, int64_t axis) {
  if (!edit.single_use(v)) return std::nullopt;
  const NodeId id = edit.graph().users(v)[0];
  const Node& node = edit.graph().node(id);
  if (node.op->name != op || node.inputs[0] == node.inputs[1]) return std::nullopt;
  const ValueId c = node.inputs[node.inputs[0] == v ? 1 : 0];
  if (!edit.is_constant(c) || edit.rank(c) > -axis || edit.rank(c) < 1) return std::nullopt;
  const Shape& x = edit.type(v).shape;
  for (int d = 1; d <= edit.rank(c); ++d)
    if (!same_size(edit.type(c).shape[edit.rank(c) - d], x[x.rank() - d])) return std::nullopt;
  if (edit.type(c).dtype != edit.type(v).dtype) return std::nullopt;
  return Factor{id, c};
}

// Ones over the last dimension, or a single one where its size is not known.
ValueId ones(Edit& edit, ValueId x, const std::string& name) {
  const Dim& last = edit.type(x).shape[edit.rank(x) - 1];
  const int64_t n = last.is_static() ? last.size() : 1;
  return edit.constant(name, edit.type(x).dtype, {n}, std::vector<double>(static_cast<size_t>(n), 1));
}

}  // namespace

Status fuse_normalization(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).outputs.size() != 1) continue;
    const auto norm = find(edit, g.node(id));
    if (!norm) continue;
    std::string where = edit.where(id);
    NodeId last = id;
    ValueId scale, bias;
    if (const auto mul = next(edit, g.node(last).outputs[0], "mul", norm->root.axis))
      last = mul->node, scale = mul->constant;
    if (!norm->rms)
      if (const auto add = next(edit, g.node(last).outputs[0], "add", norm->root.axis))
        last = add->node, bias = add->constant;
    const ValueId out = g.node(last).outputs[0];
    if (!scale.valid()) scale = ones(edit, norm->x, g.value(out).name + ".scale");
    std::vector<ValueId> inputs{norm->x, scale};
    if (bias.valid()) inputs.push_back(bias);
    const std::string_view op = norm->rms ? "rms_normalization" : "layer_normalization";
    ops::Attrs attrs{{"axis", norm->root.axis}, {"epsilon", norm->root.epsilon}};
    const auto now = edit.insert(last, op, std::move(inputs), std::move(attrs));
    const Status done = now.is_ok() ? edit.replace(out, *now) : now.status();
    edit.record(std::move(where), done, fmt::format("{} of %{}", op, g.value(norm->x).name));
  }
  return Status::ok();
}

}  // namespace nereid::passes
