// SPDX-License-Identifier: Apache-2.0
// LayerNormalization, RMSNormalization (SimplifiedLayerNormalization in older exports) and the forms that first add a
// skip connection.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

// Statistics are results only if the node wants them, so that most nodes have one result.
Status normalize(NodeContext& node, std::string_view op, std::vector<ValueId> inputs, int64_t axis, double epsilon) {
  NEREID_TRY(const int64_t stash_type, node.integer("stash_type", 1));
  const size_t statistics = op == "layer_normalization" ? 2 : 1;
  // The skip forms have the same place for both statistics, whether the op has one or two.
  bool wanted = false;
  for (size_t i = 1; i < 3 && i < node.output_count(); ++i) wanted |= node.wants_output(i);
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_all(op, std::move(inputs),
                           {{"axis", axis}, {"epsilon", epsilon}, {"stash_type", stash_type}, {"statistics", wanted}},
                           wanted ? 1 + statistics : 1));
  node.give(0, results[0]);
  if (!wanted) return Status::ok();
  const bool inverse_second = statistics == 1 && node.output_count() <= 2;
  if (node.wants_output(1) && (statistics == 2 || inverse_second)) node.give(1, results[1]);
  if (node.output_count() > 2 && node.wants_output(2)) node.give(2, results.back());
  return Status::ok();
}

}  // namespace

Status import_layer_normalization(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(const int64_t axis, node.integer("axis", -1));
  NEREID_TRY(const double epsilon, node.real("epsilon", 1e-5));
  return normalize(node, "layer_normalization", node.inputs(), axis, epsilon);
}

Status import_rms_normalization(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  NEREID_TRY(const int64_t axis, node.integer("axis", -1));
  NEREID_TRY(const double epsilon, node.real("epsilon", 1e-5));
  return normalize(node, "rms_normalization", node.inputs(), axis, epsilon);
}

// Inputs: x, skip, scale, [shift,] bias of the sum. Results: y, mean, inverse deviation, the sum.
Status import_skip_layer_normalization(NodeContext& node) {
  const bool simple = node.op_type() == "SkipSimplifiedLayerNormalization";
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, simple ? 4 : 5));
  NEREID_TRY(const double epsilon, node.real("epsilon", 1e-12));
  NEREID_TRY(ValueId sum, node.emit("add", {node.input(0), node.input(1)}));
  const ValueId bias = node.input(simple ? 3 : 4);
  if (bias.valid()) {
    NEREID_TRY(sum, node.emit("add", {sum, bias}));
  }
  std::vector<ValueId> inputs{sum, node.input(2)};
  if (!simple && node.has_input(3)) inputs.push_back(node.input(3));
  if (node.output_count() > 3 && node.wants_output(3)) node.give(3, sum);
  return normalize(node, simple ? "rms_normalization" : "layer_normalization", std::move(inputs), -1, epsilon);
}

}  // namespace nereid::import::onnx
