// SPDX-License-Identifier: Apache-2.0
// EmbedLayerNormalization of com.microsoft: words, places and segments looked up, added and normalised.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_embed_layer_normalization(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(7, 9));
  enum : size_t { kWords, kSegments, kWordTable, kPlaceTable, kSegmentTable, kScale, kShift, kMask, kPlaces };
  NEREID_TRY(const double epsilon, node.real("epsilon", 1e-12));
  const auto look_up = [&](size_t table, ValueId indices) {
    return node.emit("gather", {node.input(table), indices}, {{"axis", int64_t{0}}});
  };
  NEREID_TRY(ValueId sum, look_up(kWordTable, node.input(kWords)));
  ValueId places = node.input(kPlaces);
  if (!places.valid()) {
    NEREID_TRY(ValueId steps, node.emit("shape", {node.input(kWords)}, {{"start", int64_t{1}}, {"end", int64_t{2}}}));
    NEREID_TRY(steps, node.emit("reshape_to", {steps, node.constant_integers({})}, {{"allowzero", false}}));
    NEREID_TRY(places,
               node.emit("range", {node.constant_scalar(DType::i64, 0), steps, node.constant_scalar(DType::i64, 1)}));
  }
  NEREID_TRY(const ValueId place, look_up(kPlaceTable, places));
  NEREID_TRY(sum, node.emit("add", {sum, place}));
  if (node.has_input(kSegments) && node.has_input(kSegmentTable)) {
    NEREID_TRY(const ValueId segment, look_up(kSegmentTable, node.input(kSegments)));
    NEREID_TRY(sum, node.emit("add", {sum, segment}));
  }
  NEREID_TRY(const ValueId y,
             node.emit("layer_normalization", {sum, node.input(kScale), node.input(kShift)}, {{"epsilon", epsilon}}));
  node.give(0, y);
  if (node.output_count() > 1 && node.wants_output(1)) {
    // How many words each sample has; 0 if there is no mask.
    ValueId counted = node.input(kMask);
    if (!counted.valid()) {
      NEREID_TRY(counted, node.emit("sub", {node.input(kWords), node.input(kWords)}));
    }
    NEREID_TRY(counted, node.emit("reduce_sum", {counted, node.constant_integers({1})}, {{"keepdims", false}}));
    NEREID_TRY(counted, node.emit("cast", {counted}, {{"dtype", std::string("i32")}}));
    node.give(1, counted);
  }
  if (node.output_count() > 2 && node.wants_output(2)) node.give(2, sum);
  return Status::ok();
}

}  // namespace nereid::import::onnx
