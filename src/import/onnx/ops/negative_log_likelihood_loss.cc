// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss, and SoftmaxCrossEntropyLoss, which makes the log-probabilities first.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

Result<ops::Attrs> loss_attrs(const NodeContext& node) {
  NEREID_TRY(std::string reduction, node.text("reduction", "mean"));
  ops::Attrs attrs{{"reduction", std::move(reduction)}};
  if (node.has_attr("ignore_index")) {
    NEREID_TRY(const int64_t ignored, node.integer("ignore_index"));
    attrs.set("ignore_index", std::vector<int64_t>{ignored});
  }
  return attrs;
}

}  // namespace

Status import_negative_log_likelihood_loss(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(ops::Attrs attrs, loss_attrs(node));
  return node.lower("negative_log_likelihood_loss", node.inputs(), std::move(attrs));
}

Status import_softmax_cross_entropy_loss(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(ops::Attrs attrs, loss_attrs(node));
  NEREID_TRY(const ValueId log_prob, node.emit("log_softmax", {node.input(0)}, {{"axis", int64_t{1}}}));
  NEREID_TRY(const ValueId loss,
             node.emit("negative_log_likelihood_loss", {log_prob, node.input(1), node.input(2)}, std::move(attrs)));
  node.give(0, loss);
  if (node.output_count() > 1 && node.wants_output(1)) node.give(1, log_prob);
  return Status::ok();
}

}  // namespace nereid::import::onnx
