// SPDX-License-Identifier: Apache-2.0
// The reductions: axes are an attribute before opset 18 (13 for ReduceSum), an input since.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"ReduceL1", "reduce_l1"},          {"ReduceL2", "reduce_l2"},
    {"ReduceLogSum", "reduce_log_sum"}, {"ReduceLogSumExp", "reduce_log_sum_exp"},
    {"ReduceMax", "reduce_max"},        {"ReduceMean", "reduce_mean"},
    {"ReduceMin", "reduce_min"},        {"ReduceProd", "reduce_prod"},
    {"ReduceSum", "reduce_sum"},        {"ReduceSumSquare", "reduce_sum_square"}};

}  // namespace

Status import_reduce(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 2));
  NEREID_TRY(const int64_t keep, node.integer("keepdims", 1));
  NEREID_TRY(const int64_t noop, node.integer("noop_with_empty_axes", 0));
  ValueId axes = node.input(1);
  if (node.has_attr("axes")) {
    NEREID_TRY(const std::vector<int64_t> given, node.integers("axes"));
    axes = node.constant_integers(given);
  }
  for (const auto& [type, op] : kNames)
    if (type == node.op_type())
      return node.lower(op, {node.input(0), axes}, {{"keepdims", keep != 0}, {"noop_with_empty_axes", noop != 0}});
  return internal("{} is no reduction", node.op_type());
}

}  // namespace nereid::import::onnx
