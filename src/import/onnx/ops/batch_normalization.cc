// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: in training if attribute training_mode (from opset 14 on) or more than one wanted result (before)
// says so. Before opset 9 statistics could be of every feature rather than every channel (spatial = 0).
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

// Everything behind the batch becomes channels.
Status lower_features(NodeContext& node, double epsilon) {
  NEREID_TRY(const ValueId shape, node.emit("shape", {node.input(0)}));
  std::vector<ValueId> inputs;
  NEREID_TRY(inputs.emplace_back(), node.emit("flatten", {node.input(0)}, {{"axis", int64_t{1}}}));
  for (size_t i = 1; i < 5; ++i) {
    NEREID_TRY(inputs.emplace_back(),
               node.emit("reshape_to", {node.input(i), node.constant_integers({-1})}, {{"allowzero", false}}));
  }
  NEREID_TRY(const ValueId y, node.emit("batch_normalization", inputs, {{"epsilon", epsilon}}));
  NEREID_TRY(const ValueId back, node.emit("reshape_to", {y, shape}, {{"allowzero", true}}));
  node.give(0, back);
  return Status::ok();
}

}  // namespace

Status import_batch_normalization(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(5, 5));
  NEREID_TRY(const double epsilon, node.real("epsilon", 1e-5));
  NEREID_TRY(const double momentum, node.real("momentum", 0.9));
  NEREID_TRY(const int64_t training_mode, node.integer("training_mode", 0));
  NEREID_TRY(const int64_t is_test, node.integer("is_test", 0));
  NEREID_TRY(const int64_t spatial, node.integer("spatial", 1));
  bool extra = false;
  for (size_t i = 1; i < node.output_count(); ++i) extra |= node.wants_output(i);
  const bool training = node.version() >= 14 ? training_mode != 0 : extra && is_test == 0;
  // Before opset 14 results that only training makes could be named all the same.
  if (!training && extra && node.version() >= 14)
    return invalid_argument("it has more than one result, but is not in training");
  if (spatial == 0 && training) return unsupported("statistics of every feature (spatial = 0) in training");
  if (spatial == 0) return lower_features(node, epsilon);
  if (!training) return node.lower("batch_normalization", node.inputs(), {{"epsilon", epsilon}});
  NEREID_TRY(const std::vector<ValueId> results, node.emit_all("batch_normalization_training", node.inputs(),
                                                               {{"epsilon", epsilon}, {"momentum", momentum}}, 5));
  for (size_t i = 0; i < node.output_count(); ++i)
    if (node.wants_output(i)) node.give(i, results[i]);
  return Status::ok();
}

}  // namespace nereid::import::onnx
