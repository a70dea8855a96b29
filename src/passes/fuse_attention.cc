// SPDX-License-Identifier: Apache-2.0
// fuse_attention: softmax(q . k^T * scale + mask) . v is scaled_dot_attention: the scores are never stored. The
// reshapes and transpositions that make heads of rows go into it where they can.
#include <algorithm>
#include <cmath>

#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

// A value without the products and quotients by constants around it, and what they come to.
ValueId unscaled(const Edit& edit, ValueId v, double& scale) {
  for (;;) {
    const Node* mul = edit.made_by(v, "mul");
    const Node* div = edit.made_by(v, "div");
    if (mul != nullptr && edit.scalar(mul->inputs[1])) {
      scale *= *edit.scalar(mul->inputs[1]);
      v = mul->inputs[0];
    } else if (mul != nullptr && edit.scalar(mul->inputs[0])) {
      scale *= *edit.scalar(mul->inputs[0]);
      v = mul->inputs[1];
    } else if (div != nullptr && edit.scalar(div->inputs[1])) {
      scale /= *edit.scalar(div->inputs[1]);
      v = div->inputs[0];
    } else {
      return v;
    }
  }
}

// Whether v is another value transposed so; that value.
ValueId transposed(const Edit& edit, ValueId v, std::vector<int64_t> permutation) {
  const Node* node = edit.made_by(v, "transpose");
  return node != nullptr && node->attrs.integers("permutation") == permutation ? node->inputs[0] : ValueId{};
}

struct Parts {
  ValueId q, k, v, mask;  // q, k, v [N, heads, steps, width]
  double scale = 1;
};

// k^T's k: transposed in the last two dimensions, or together with the heads: then `heads_last` says that the value is
// [N, steps, heads, width] still.
struct Keys {
  ValueId value;
  bool rows = false;  // [N, steps, heads, width]
};
Keys keys_of(const Edit& edit, ValueId v) {
  if (const ValueId k = transposed(edit, v, {0, 1, 3, 2}); k.valid()) return {k, false};
  if (const ValueId k = transposed(edit, v, {0, 2, 3, 1}); k.valid()) return {k, true};
  return {};
}

bool is_4d(const Edit& edit, ValueId v) {
  return edit.is_ranked(v) && edit.rank(v) == 4;
}

// [N, heads, steps, width] as rows [N, steps, heads * width], if it was made of them; else invalid.
ValueId rows_of(const Edit& edit, ValueId v, bool heads_inside, int64_t heads, int64_t width) {
  const ValueId split = heads_inside ? v : transposed(edit, v, {0, 2, 1, 3});
  if (!split.valid()) return {};
  const Node* reshape = edit.made_by(split, "reshape");
  if (reshape == nullptr || !is_4d(edit, split) || !edit.is_ranked(reshape->inputs[0])) return {};
  const Shape &rows = edit.type(reshape->inputs[0]).shape, &to = edit.type(split).shape;
  const bool fits = rows.rank() == 3 && same_size(rows[0], to[0]) && same_size(rows[1], to[1]) && to[2] == Dim(heads) &&
                    to[3] == Dim(width) && rows[2] == Dim(heads * width);
  return fits ? reshape->inputs[0] : ValueId{};
}

// where(is_nan(p), 0, p): a row of which nothing is seen becomes zeros, as scaled_dot_attention has it.
ValueId without_nans(const Edit& edit, ValueId p) {
  const Node* where = edit.made_by(p, "where");
  if (where == nullptr || edit.scalar(where->inputs[1]) != 0.0) return p;
  const Node* test = edit.made_by(where->inputs[0], "is_nan");
  return test != nullptr && test->inputs[0] == where->inputs[2] ? where->inputs[2] : p;
}

Result<ValueId> build(Edit& edit, NodeId id) {
  graph::Graph& g = edit.graph();
  const Node last = g.node(id);
  const ValueId probabilities = without_nans(edit, last.inputs[0]);
  const Node* softmax = edit.made_by(probabilities, "softmax");
  if (softmax == nullptr) return ValueId{};
  const int64_t axis = softmax->attrs.integer("axis");
  if (!is_4d(edit, probabilities)) return unsupported("%{} has not four dimensions", edit.value(probabilities).name);
  if (axis != -1 && axis != 3) return unsupported("the softmax goes along axis {}", axis);
  if (!edit.single_use(last.inputs[0]))
    return unsupported("the probabilities %{} have other users", edit.value(probabilities).name);

  Parts parts;
  parts.v = last.inputs[1];
  ValueId scores = softmax->inputs[0];
  double outer = 1;
  if (const Node* sum = edit.made_by(scores, "add")) {
    for (size_t i : {0, 1}) {
      double scale = 1;
      const ValueId product = unscaled(edit, sum->inputs[i], scale);
      if (edit.made_by(product, "matmul") == nullptr) continue;
      parts.mask = sum->inputs[1 - i];
      scores = sum->inputs[i];
      break;
    }
  }
  scores = unscaled(edit, scores, outer);
  const Node* product = edit.made_by(scores, "matmul");
  if (product == nullptr) return unsupported("%{} is no product of two matrices", edit.value(scores).name);
  parts.scale = outer;
  parts.q = unscaled(edit, product->inputs[0], parts.scale);
  const ValueId kt = unscaled(edit, product->inputs[1], parts.scale);
  Keys keys = keys_of(edit, kt);
  double inner = 1;
  if (keys.value.valid()) keys.value = unscaled(edit, keys.value, inner);
  parts.scale *= inner;
  if (!is_4d(edit, parts.q) || !is_4d(edit, kt) || !is_4d(edit, parts.v))
    return unsupported("q, k and v should have four dimensions");
  if (parts.mask.valid() && (!edit.is_ranked(parts.mask) || edit.rank(parts.mask) > 4))
    return unsupported("the mask %{} has too many dimensions", edit.value(parts.mask).name);
  if (parts.scale == 0) return unsupported("the scale is 0");
  const Dim &heads = edit.type(parts.q).shape[1], &width = edit.type(parts.q).shape[3];
  const Dim& v_width = edit.type(parts.v).shape[3];
  ops::Attrs attrs{{"scale", parts.scale}};

  // With rows everywhere nothing is moved at all.
  const NodeId user = edit.single_use(last.outputs[0]) ? g.users(last.outputs[0])[0] : NodeId{};
  if (heads.is_static() && width.is_static() && v_width.is_static() && user.valid() && keys.value.valid()) {
    const ValueId back = g.node(user).outputs[0];
    const ValueId q = rows_of(edit, parts.q, false, heads.size(), width.size());
    const ValueId k = rows_of(edit, keys.value, keys.rows, heads.size(), width.size());
    const ValueId v = rows_of(edit, parts.v, false, heads.size(), v_width.size());
    if (q.valid() && k.valid() && v.valid() && transposed(edit, back, {0, 2, 1, 3}) == last.outputs[0]) {
      attrs.set("q_num_heads", heads.size());
      attrs.set("kv_num_heads", heads.size());
      NEREID_TRY(const ValueId y, edit.insert(user, "scaled_dot_attention", {q, k, v, parts.mask}, attrs,
                                              edit.value(last.outputs[0]).name + ".rows"));
      const ops::TensorType type = edit.type(back);
      auto shape = reshape_shape(edit.type(y).shape, type.shape);
      if (!shape) shape = std::vector<int64_t>{0, 0, heads.size(), v_width.size()};
      NEREID_TRY(const ValueId rows, edit.insert(user, "reshape", {y}, {{"shape", *shape}}));
      NEREID_RETURN_IF_ERROR(edit.replace(back, rows));
      return rows;
    }
  }
  ValueId k = keys.value;
  if (!k.valid()) {
    NEREID_TRY(k, edit.insert(id, "transpose", {kt}, {{"permutation", std::vector<int64_t>{0, 1, 3, 2}}}));
  } else if (keys.rows) {
    NEREID_TRY(k, edit.insert(id, "transpose", {k}, {{"permutation", std::vector<int64_t>{0, 2, 1, 3}}}));
  }
  NEREID_TRY(const ValueId y, edit.insert(id, "scaled_dot_attention", {parts.q, k, parts.v, parts.mask}, attrs));
  NEREID_RETURN_IF_ERROR(edit.replace(last.outputs[0], y));
  return y;
}

// Which of the things stacked along dimension 0 a reader takes, and where it ends up without that dimension.
struct Taken {
  int64_t index = -1;
  ValueId value;
};
Taken taken(const Edit& edit, NodeId reader) {
  const graph::Graph& g = edit.graph();
  const Node& node = g.node(reader);
  const auto one = [&](ValueId v) {
    const auto list = edit.integers(v);
    return list && list->size() == 1 ? std::optional((*list)[0]) : std::nullopt;
  };
  if (node.op->name == "gather" && node.attrs.integer("axis") == 0 && edit.type(node.inputs[1]).shape.rank() == 0) {
    const auto index = one(node.inputs[1]);
    return index ? Taken{*index, node.outputs[0]} : Taken{};
  }
  if (node.op->name == "slice" && node.inputs[3].valid() && one(node.inputs[3]) == 0) {
    const auto start = one(node.inputs[1]), end = one(node.inputs[2]);
    const ValueId cut = node.outputs[0];
    if (!start || !end || *start < 0 || *end != *start + 1 || !edit.single_use(cut)) return {};
    const Node& user = g.node(g.users(cut)[0]);
    const bool squeezed = user.op->name == "squeeze" || user.op->name == "reshape";
    return squeezed && edit.rank(user.outputs[0]) == edit.rank(cut) - 1 ? Taken{*start, user.outputs[0]} : Taken{};
  }
  return {};
}

// q, k and v in one: rows [N, T, 3 H D] as [N, T, 3, H, D], transposed to [3, N, H, T, D] and taken apart. The rows are
// split instead, and each part has heads of its own.
Status unstack(Edit& edit, NodeId id) {
  graph::Graph& g = edit.graph();
  const Node node = g.node(id);
  const Node* reshape = edit.made_by(node.inputs[0], "reshape");
  if (node.attrs.integers("permutation") != std::vector<int64_t>{2, 0, 3, 1, 4} || reshape == nullptr ||
      !edit.is_ranked(reshape->inputs[0]) || edit.rank(reshape->inputs[0]) != 3)
    return Status::ok();
  const ValueId rows = reshape->inputs[0];
  const Shape from = edit.type(rows).shape, to = edit.type(node.inputs[0]).shape;
  if (!same_size(from[0], to[0]) || !same_size(from[1], to[1]) || !to[2].is_static() || !to[3].is_static() ||
      !to[4].is_static() || g.is_output(node.outputs[0]))
    return Status::ok();
  std::vector<Taken> readers;
  for (NodeId reader : g.users(node.outputs[0])) {
    readers.push_back(taken(edit, reader));
    if (readers.back().index < 0 || readers.back().index >= to[2].size()) return Status::ok();
  }
  std::string where = edit.where(id);
  NEREID_TRY(const auto parts,
             g.insert_node(id, "split_along", {rows}, {{"axis", int64_t{2}}, {"num_outputs", to[2].size()}},
                           edit.value(rows).name + ".part"));
  for (const Taken& reader : readers) {
    const std::vector<int64_t> shape{0, 0, to[3].size(), to[4].size()};
    NEREID_TRY(const ValueId heads,
               edit.insert(id, "reshape", {parts[static_cast<size_t>(reader.index)]}, {{"shape", shape}}));
    NEREID_TRY(const ValueId moved,
               edit.insert(id, "transpose", {heads}, {{"permutation", std::vector<int64_t>{0, 2, 1, 3}}}));
    NEREID_RETURN_IF_ERROR(edit.replace(reader.value, moved));
  }
  edit.fired(std::move(where), "parts of rows");
  return Status::ok();
}

}  // namespace

Status fuse_attention(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> before = g.order();
  for (NodeId id : before)
    if (g.node(id).op != nullptr && g.node(id).op->name == "transpose") NEREID_RETURN_IF_ERROR(unstack(edit, id));
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).op->name != "matmul") continue;
    std::string where = edit.where(id);
    const auto y = build(edit, id);
    if (y.is_ok() && !y->valid()) continue;
    edit.record(std::move(where), y.status(), "scaled_dot_attention");
  }
  return Status::ok();
}

}  // namespace nereid::passes
