// SPDX-License-Identifier: Apache-2.0
// fuse_activation: activations that exporters write as several nodes, in whatever order of factors: gelu (by erf and by
// tanh), silu and swish, hard_sigmoid, hard_swish, softplus and mish.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "passes/expression.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

struct Recognised {
  std::string_view op;  // empty: nothing
  ValueId x;
  ops::Attrs attrs;
};

// 1 + f(u): the u; invalid if v is not that.
ValueId one_plus(const Edit& edit, const Expression& e, ValueId v, std::string_view function) {
  const Node* sum = e.inner(v, "add");
  if (sum == nullptr) return {};
  for (size_t i : {0, 1})
    if (edit.is_scalar(sum->inputs[i], 1))
      if (const Node* f = e.inner(sum->inputs[1 - i], function)) return f->inputs[0];
  return {};
}

// sqrt(2 / pi) (x + 0.044715 x^3)
bool is_gelu_tanh_argument(const Expression& e, ValueId u, ValueId x) {
  auto p = e.polynomial(u, x);
  if (!p) return false;
  const double a = std::sqrt(2 / std::numbers::pi);
  return std::abs((*p)[0]) < 1e-6 && std::abs((*p)[2]) < 1e-6 && close((*p)[1], a) && close((*p)[3], 0.044715 * a);
}

// min(high, max(0, a x + b)) with whatever is said to be x: a clip node's input and limit.
struct Clipped {
  ValueId v;
  double high = 0;
};
std::optional<Clipped> clipped(const Edit& edit, const Expression& e, ValueId v) {
  const Node* clip = e.inner(v, "clip");
  if (clip == nullptr || edit.scalar(clip->inputs[1]) != 0.0) return std::nullopt;
  const auto high = edit.scalar(clip->inputs[2]);
  if (!high || !(*high > 0)) return std::nullopt;
  return Clipped{clip->inputs[0], *high};
}

// What `gate` is of `x` in x * gate * coefficient.
Recognised gated_by(const Edit& edit, const Expression& e, ValueId x, ValueId gate, double coefficient) {
  const double half = 0.5;
  if (close(coefficient, half)) {
    if (const ValueId u = one_plus(edit, e, gate, "erf"); u.valid() && e.is_linear(u, x, 1 / std::numbers::sqrt2))
      return {"gelu", x, {}};
    if (const ValueId u = one_plus(edit, e, gate, "tanh"); u.valid() && is_gelu_tanh_argument(e, u, x))
      return {"gelu_tanh", x, {}};
  }
  if (const auto clip = clipped(edit, e, gate)) {
    auto p = e.polynomial(clip->v, x);
    if (p && close(coefficient * clip->high, 1) && close((*p)[1] * coefficient, 1.0 / 6) &&
        close((*p)[0] * coefficient, half) && p->size() == 2)
      return {"hard_swish", x, {}};
  }
  if (!close(coefficient, 1, 1e-6)) return {};
  if (const Node* s = e.inner(gate, "sigmoid")) {
    if (s->inputs[0] == x) return {"silu", x, {}};
    auto p = e.polynomial(s->inputs[0], x);
    if (p && p->size() == 1 && p->contains(1)) return {"swish", x, {{"alpha", (*p)[1]}}};
  }
  if (const Node* s = e.inner(gate, "hard_sigmoid"))
    if (s->inputs[0] == x && close(s->attrs.real("alpha"), 1.0 / 6) && close(s->attrs.real("beta"), half))
      return {"hard_swish", x, {}};
  if (const Node* t = e.inner(gate, "tanh"))
    if (const Node* s = e.inner(t->inputs[0], "softplus"); s != nullptr && s->inputs[0] == x) return {"mish", x, {}};
  if (const Node* t = e.inner(gate, "tanh"))
    if (const Node* l = e.inner(t->inputs[0], "log"); l != nullptr && one_plus(edit, e, l->inputs[0], "exp") == x)
      return {"mish", x, {}};
  return {};
}

Recognised find(const Edit& edit, ValueId root) {
  const Expression e(edit, root);
  const Node& node = *edit.maker(root);
  const std::string_view op = node.op->name;
  if (op == "log") {  // log(1 + e^x)
    if (const ValueId x = one_plus(edit, e, node.inputs[0], "exp"); x.valid()) return {"softplus", x, {}};
    return {};
  }
  if (op != "mul" && op != "div") return {};
  const Product product = e.product(root);
  if (product.factors.size() == 2) {
    for (size_t i : {0, 1}) {
      Recognised found = gated_by(edit, e, product.factors[i], product.factors[1 - i], product.coefficient);
      if (!found.op.empty()) return found;
    }
  }
  if (product.factors.size() == 1) {  // clip(x + 3, 0, 6) / 6
    const auto clip = clipped(edit, e, product.factors[0]);
    if (!clip || !close(clip->high * product.coefficient, 1)) return {};
    const Node* sum = e.inner(clip->v, "add");
    if (sum == nullptr) return {};
    for (size_t i : {0, 1})
      if (const auto c = edit.scalar(sum->inputs[1 - i]))
        return {"hard_sigmoid", sum->inputs[i], {{"alpha", product.coefficient}, {"beta", *c * product.coefficient}}};
  }
  return {};
}

}  // namespace

Status fuse_activation(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  // Last first: x * clip(x + 3, 0, 6) / 6 before the hard_sigmoid inside.
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const NodeId id = *it;
    if (g.node(id).op == nullptr || g.node(id).outputs.size() != 1) continue;
    const ValueId out = g.node(id).outputs[0];
    if (!edit.type(out).is_tensor() || !is_float(edit.type(out).dtype)) continue;
    const Recognised found = find(edit, out);
    if (found.op.empty()) continue;
    std::string where = edit.where(id);
    const auto now = edit.insert(id, found.op, {found.x}, found.attrs);
    const Status done = now.is_ok() ? edit.replace(out, *now) : now.status();
    edit.record(std::move(where), done, fmt::format("{} of %{}", found.op, g.value(found.x).name));
  }
  return Status::ok();
}

}  // namespace nereid::passes
