// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLSTM of com.microsoft: weights of 8 bits, stored [D, I, 4 * H], with scales of directions or columns.
#include "import/onnx/ops/node_context.h"
#include "import/onnx/ops/recurrent_attrs.h"

namespace nereid::import::onnx {
namespace {

// Scale or zero point [D] or [D, 4 * H] so that it broadcasts to [D, I, 4 * H].
Result<ValueId> beside_weights(NodeContext& node, ValueId x) {
  const int rank = node.type(x).shape.rank();
  if (rank != 1 && rank != 2) return unsupported("scales of weights that are {}", node.type(x).to_string());
  const std::vector<int64_t> sizes = rank == 1 ? std::vector<int64_t>{-1, 1, 1} : std::vector<int64_t>{0, 1, -1};
  return node.emit("reshape_to", {x, node.constant_integers(sizes)}, {{"allowzero", false}});
}

Result<ValueId> dequantize(NodeContext& node, ValueId weights, ValueId scale, ValueId zero_point) {
  const auto as_float = [&](ValueId x) { return node.emit("cast", {x}, {{"dtype", std::string("f32")}}); };
  NEREID_TRY(ValueId w, as_float(weights));
  if (zero_point.valid()) {
    NEREID_TRY(ValueId zero, as_float(zero_point));
    NEREID_TRY(zero, beside_weights(node, zero));
    NEREID_TRY(w, node.emit("sub", {w, zero}));
  }
  NEREID_TRY(const ValueId factor, beside_weights(node, scale));
  NEREID_TRY(w, node.emit("mul", {w, factor}));
  return node.emit("transpose", {w}, {{"permutation", std::vector<int64_t>{0, 2, 1}}});
}

}  // namespace

// Inputs 0 to 7 are those of LSTM; then scale and zero point of w, scale and zero point of r.
Status import_dynamic_quantize_lstm(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(12, 12));
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 8; ++i) inputs.push_back(node.input(i));
  NEREID_TRY(inputs[1], dequantize(node, node.input(1), node.input(8), node.input(9)));
  NEREID_TRY(inputs[2], dequantize(node, node.input(2), node.input(10), node.input(11)));
  NEREID_TRY(ops::Attrs attrs, recurrent_attrs(node));
  NEREID_TRY(const int64_t input_forget, node.integer("input_forget", 0));
  attrs.set("input_forget", input_forget != 0);
  return node.lower("lstm", std::move(inputs), std::move(attrs));
}

}  // namespace nereid::import::onnx
