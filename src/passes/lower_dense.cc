// SPDX-License-Identifier: Apache-2.0
// lower_dense: a product with a constant matrix is a dense layer, which takes bias, activation and residual in.
#include "passes/edit.h"
#include "passes/pass_list.h"
#include "passes/quantized.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

Status is_weight(const Edit& edit, ValueId w) {
  if (!is_weight_value(edit, w)) return unsupported("%{} is no constant", edit.value(w).name);
  const DType dtype = edit.type(w).dtype;
  if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f64)
    return unsupported("%{} is {}", edit.value(w).name, dtype_name(dtype));
  return Status::ok();
}

Result<ValueId> from_matmul(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  ValueId w = node.inputs[1];
  NEREID_RETURN_IF_ERROR(is_weight(edit, w));
  if (!edit.is_ranked(node.inputs[0]))
    return unsupported("the rank of %{} is not known", edit.value(node.inputs[0]).name);
  std::vector<int64_t> sizes = edit.type(w).shape.sizes();
  while (edit.is_constant(w) && sizes.size() > 2 && sizes[0] == 1 &&
         edit.rank(node.inputs[0]) >= static_cast<int>(sizes.size())) {
    sizes.erase(sizes.begin());
    ConstTensorView view = edit.value(w).data.parts[0];
    if (edit.value(w).data.parts.size() != 1) break;
    view.sizes = sizes;
    w = edit.graph().add_constant(edit.value(w).name, {edit.type(w).dtype, Shape::of(sizes)}, {.parts = {view}});
  }
  if (sizes.size() != 2) return unsupported("%{} is {}, no matrix", edit.value(w).name, edit.type(w).to_string());
  return edit.insert(id, "dense", {node.inputs[0], w});
}

Result<ValueId> from_gemm(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const ValueId a = node.inputs[0], w = node.inputs[1], c = node.inputs[2];
  NEREID_RETURN_IF_ERROR(is_weight(edit, w));
  if (node.attrs.boolean("transA")) return unsupported("%{} is transposed", edit.value(a).name);
  if (node.attrs.real("alpha") != 1) return unsupported("alpha is {}", node.attrs.real("alpha"));
  const bool transposed = node.attrs.boolean("transB");
  const Shape& y = edit.type(node.outputs[0]).shape;
  ValueId bias;
  if (c.valid() && node.attrs.real("beta") != 0) {
    const auto values = along_axis(edit, c, y, 1);
    if (!values || !y[1].is_static()) return unsupported("%{} is no constant row", edit.value(c).name);
    std::vector<double> row(static_cast<size_t>(y[1].size()));
    for (size_t i = 0; i < row.size(); ++i) row[i] = (*values)[values->size() == 1 ? 0 : i] * node.attrs.real("beta");
    const bool as_it_is = edit.rank(c) == 1 && values->size() == row.size() && node.attrs.real("beta") == 1;
    bias =
        as_it_is ? c : edit.constant(edit.value(c).name, edit.type(c).dtype, {static_cast<int64_t>(row.size())}, row);
  }
  return edit.insert(id, "dense", {a, w, bias}, {{"transposed", transposed}});
}

}  // namespace

Status lower_dense(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr) continue;
    const std::string_view op = g.node(id).op->name;
    if (op != "matmul" && op != "gemm") continue;
    std::string where = edit.where(id);
    const auto dense = op == "matmul" ? from_matmul(edit, id) : from_gemm(edit, id);
    const Status done = dense.is_ok() ? edit.replace(g.node(id).outputs[0], *dense) : dense.status();
    edit.record(std::move(where), done, "dense");
  }
  return Status::ok();
}

}  // namespace nereid::passes
