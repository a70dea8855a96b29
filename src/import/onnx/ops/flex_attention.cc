// SPDX-License-Identifier: Apache-2.0
// FlexAttention: attention whose scores and probabilities go through graphs of the node. Such a graph is a branch of an
// `if` that is always taken.
#include <cmath>

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

Result<ValueId> through_graph(NodeContext& node, const std::string& attr, ValueId value) {
  if (!node.has_attr(attr)) return value;
  NEREID_TRY(const auto arity, node.region_arity(attr));
  if (arity.first != 1 || arity.second != 1)
    return invalid_argument("{} takes {} values and gives {}, and should take one and give one", attr, arity.first,
                            arity.second);
  std::vector<ValueId> captures;
  NEREID_TRY(auto regions, node.regions({{attr, {node.type(value)}}}, captures));
  std::vector<ValueId> inputs{node.constant_scalar(DType::boolean, 1), value};
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  regions.push_back(regions[0]);
  const auto count = static_cast<int64_t>(inputs.size()) - 1;
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_control("if", std::move(inputs), {{"captures", count}}, std::move(regions), 1));
  return results[0];
}

Result<ValueId> cast_to(NodeContext& node, ValueId value, DType dtype) {
  if (node.type(value).dtype == dtype) return value;
  return node.emit("cast", {value}, {{"dtype", std::string(dtype_name(dtype))}});
}

// Query heads that share a key head become more steps of it, and back.
Result<ValueId> with_heads(NodeContext& node, ValueId value, int64_t from, int64_t to) {
  if (from == to) return value;
  return node.emit("reshape_to", {value, node.constant_integers({0, to, -1, 0})}, {{"allowzero", false}});
}

}  // namespace

Status import_flex_attention(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 3));
  const ops::TensorType q_type = node.type(node.input(0));
  const ops::TensorType k_type = node.type(node.input(1));
  if (q_type.shape.rank() != 4 || k_type.shape.rank() != 4)
    return invalid_argument("its inputs are {} and {} and should have 4 dimensions", q_type.to_string(),
                            k_type.to_string());
  const Dim& q_heads = q_type.shape[1];
  const Dim& k_heads = k_type.shape[1];
  const Dim& width = q_type.shape[3];
  if (!q_heads.is_static() || !k_heads.is_static() || !width.is_static())
    return unsupported("its heads are not known: {}", q_type.to_string());
  if (k_heads.size() < 1 || q_heads.size() % k_heads.size() != 0)
    return invalid_argument("{} query heads cannot share {} key heads", q_heads.size(), k_heads.size());
  const DType precise = q_type.dtype == DType::f64 ? DType::f64 : DType::f32;
  NEREID_TRY(const DType precision, node.dtype("softmax_precision", precise));
  NEREID_TRY(const double scale, node.real("scale", 1 / std::sqrt(static_cast<double>(width.size()))));

  NEREID_TRY(ValueId q, cast_to(node, node.input(0), precision));
  NEREID_TRY(q, with_heads(node, q, q_heads.size(), k_heads.size()));
  NEREID_TRY(ValueId k, cast_to(node, node.input(1), precision));
  NEREID_TRY(k, node.emit("transpose", {k}, {{"permutation", std::vector<int64_t>{0, 1, 3, 2}}}));
  NEREID_TRY(ValueId scores, node.emit("matmul", {q, k}));
  NEREID_TRY(scores, with_heads(node, scores, k_heads.size(), q_heads.size()));
  NEREID_TRY(scores, node.emit("mul", {scores, node.constant_scalar(precision, scale)}));
  NEREID_TRY(scores, through_graph(node, "score_mod", scores));
  NEREID_TRY(ValueId weights, node.emit("softmax", {scores}, {{"axis", int64_t{-1}}}));
  NEREID_TRY(weights, through_graph(node, "prob_mod", weights));
  NEREID_TRY(weights, with_heads(node, weights, q_heads.size(), k_heads.size()));
  NEREID_TRY(const ValueId v, cast_to(node, node.input(2), precision));
  NEREID_TRY(ValueId y, node.emit("matmul", {weights, v}));
  NEREID_TRY(y, with_heads(node, y, k_heads.size(), q_heads.size()));
  NEREID_TRY(y, cast_to(node, y, q_type.dtype));
  node.give(0, y);
  return Status::ok();
}

}  // namespace nereid::import::onnx
