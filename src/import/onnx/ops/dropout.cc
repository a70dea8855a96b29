// SPDX-License-Identifier: Apache-2.0
// Dropout: the identity unless it is in training, which an input says from opset 12 on. Before, models for inference
// have it too (an attribute of opsets before 7 that would tell them apart is often left out). Its mask has x's type
// before opset 10.
#include "import/onnx/ops/node_context.h"
#include "ops/elements.h"

namespace nereid::import::onnx {

Status import_dropout(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 3));
  const ValueId x = node.input(0);
  const bool wants_mask = node.output_count() > 1 && node.wants_output(1);
  std::vector<ValueId> inputs{x};
  ops::Attrs attrs;
  bool training = false;
  if (node.version() >= 12) {
    const ConstTensorView* mode = node.has_input(2) ? node.known(node.input(2)) : nullptr;
    training = node.has_input(2) && (mode == nullptr || mode->elements() != 1 || ops::load<bool>(*mode)[0]);
    if (training) inputs = {x, node.input(1), node.input(2)};
    if (node.has_attr("seed")) {
      NEREID_TRY(const int64_t seed, node.integer("seed"));
      attrs.set("seed", std::vector<int64_t>{seed});
    }
  }
  if (!training && !wants_mask) {
    node.give(0, x);
    return Status::ok();
  }
  NEREID_TRY(const std::vector<ValueId> results, node.emit_all("dropout", std::move(inputs), std::move(attrs), 2));
  node.give(0, training ? results[0] : x);
  if (!wants_mask) return Status::ok();
  ValueId mask = results[1];
  if (node.version() < 10) {
    NEREID_TRY(mask, node.emit("cast", {mask}, {{"dtype", std::string(dtype_name(node.type(x).dtype))}}));
  }
  node.give(1, mask);
  return Status::ok();
}

}  // namespace nereid::import::onnx
