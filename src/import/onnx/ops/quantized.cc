// SPDX-License-Identifier: Apache-2.0
// com.microsoft operators on quantised tensors that are elementwise, pool, join or reduce.
#include "import/onnx/ops/quantized.h"

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

using Ints = std::vector<int64_t>;

Result<int64_t> rank_of(NodeContext& node, ValueId x) {
  const Shape& shape = node.type(x).shape;
  if (!shape.is_ranked()) return unsupported("how many dimensions its input has is not known");
  return shape.rank();
}

// y = op(x): inputs x, its scale and zero point, the scale and zero point of y.
Status lower_one(NodeContext& node, std::string_view op, ops::Attrs attrs) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(4, 5));
  NEREID_TRY(const ValueId x, dequantized(node, 0));
  NEREID_TRY(const ValueId y, node.emit(op, {x}, std::move(attrs)));
  return give_quantized(node, y, 3, node.type(node.input(0)).dtype);
}

// Likewise of images, whose channels may be last.
Status lower_pool(NodeContext& node, std::string_view op, ops::Attrs attrs) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(4, 5));
  NEREID_TRY(const int64_t channels_last, node.integer("channels_last", 0));
  NEREID_TRY(ValueId x, dequantized(node, 0));
  if (channels_last != 0) {
    NEREID_TRY(x, channels_to_front(node, x));
  }
  NEREID_TRY(ValueId y, node.emit(op, {x}, std::move(attrs)));
  if (channels_last != 0) {
    NEREID_TRY(y, channels_to_back(node, y));
  }
  return give_quantized(node, y, 3, node.type(node.input(0)).dtype);
}

}  // namespace

Result<ValueId> dequantized(NodeContext& node, size_t x, int64_t axis) {
  for (size_t i : {x, x + 1})
    if (!node.has_input(i)) return invalid_argument("its input {} is absent", i);
  return node.emit("dequantize_linear", {node.input(x), node.input(x + 1), node.input(x + 2)}, {{"axis", axis}});
}

Status give_quantized(NodeContext& node, ValueId value, size_t scale, DType dtype) {
  if (!node.has_input(scale)) return invalid_argument("its input {} is absent", scale);
  const ValueId zero = node.input(scale + 1);
  ops::Attrs attrs;
  if (!zero.valid()) attrs.set("output_dtype", std::string(dtype_name(dtype)));
  return node.lower("quantize_linear", {value, node.input(scale), zero}, std::move(attrs));
}

Result<ValueId> channels_to_front(NodeContext& node, ValueId x) {
  NEREID_TRY(const int64_t rank, rank_of(node, x));
  if (rank < 2) return invalid_argument("its input has {} dimensions and should have a channel", rank);
  Ints order = {0, rank - 1};
  for (int64_t d = 1; d < rank - 1; ++d) order.push_back(d);
  return node.emit("transpose", {x}, {{"permutation", order}});
}

Result<ValueId> channels_to_back(NodeContext& node, ValueId x) {
  NEREID_TRY(const int64_t rank, rank_of(node, x));
  if (rank < 2) return invalid_argument("its result has {} dimensions and should have a channel", rank);
  Ints order = {0};
  for (int64_t d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return node.emit("transpose", {x}, {{"permutation", order}});
}

Status import_qlinear_binary(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(7, 8));
  NEREID_TRY(const ValueId a, dequantized(node, 0));
  NEREID_TRY(const ValueId b, dequantized(node, 3));
  NEREID_TRY(const ValueId y, node.emit(node.op_type() == "QLinearMul" ? "mul" : "add", {a, b}));
  return give_quantized(node, y, 6, node.type(node.input(0)).dtype);
}

Status import_qlinear_sigmoid(NodeContext& node) {
  return lower_one(node, "sigmoid", {});
}

Status import_qlinear_leaky_relu(NodeContext& node) {
  NEREID_TRY(const double alpha, node.real("alpha", 0.01));
  return lower_one(node, "leaky_relu", {{"alpha", alpha}});
}

// Over all dimensions from the axis on where `opset` is below 13, else along the axis.
Status import_qlinear_softmax(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(4, 5));
  NEREID_TRY(const int64_t axis, node.integer("axis", -1));
  NEREID_TRY(const int64_t opset, node.integer("opset", 13));
  NEREID_TRY(const ValueId x, dequantized(node, 0));
  NEREID_TRY(const int64_t rank, rank_of(node, x));
  const DType dtype = node.type(node.input(0)).dtype;
  if (opset >= 13 || axis == -1 || axis == rank - 1) {
    NEREID_TRY(const ValueId y, node.emit("softmax", {x}, {{"axis", axis}}));
    return give_quantized(node, y, 3, dtype);
  }
  NEREID_TRY(const ValueId shape, node.emit("shape", {x}));
  NEREID_TRY(const ValueId flat, node.emit("flatten", {x}, {{"axis", axis}}));
  NEREID_TRY(const ValueId rows, node.emit("softmax", {flat}, {{"axis", int64_t{-1}}}));
  NEREID_TRY(const ValueId y, node.emit("reshape_to", {rows, shape}, {{"allowzero", true}}));
  return give_quantized(node, y, 3, dtype);
}

Status import_qlinear_average_pool(NodeContext& node) {
  ops::Attrs attrs;
  NEREID_TRY(std::string auto_pad, node.text("auto_pad", "NOTSET"));
  NEREID_TRY(const int64_t ceil_mode, node.integer("ceil_mode", 0));
  NEREID_TRY(const int64_t with_padding, node.integer("count_include_pad", 0));
  NEREID_TRY(Ints kernel, node.integers("kernel_shape"));
  NEREID_TRY(Ints pads, node.integers("pads", Ints()));
  NEREID_TRY(Ints strides, node.integers("strides", Ints()));
  return lower_pool(node, "average_pool",
                    {{"auto_pad", std::move(auto_pad)},
                     {"ceil_mode", ceil_mode != 0},
                     {"count_include_pad", with_padding != 0},
                     {"kernel_shape", std::move(kernel)},
                     {"pads", std::move(pads)},
                     {"strides", std::move(strides)}});
}

Status import_qlinear_global_average_pool(NodeContext& node) {
  return lower_pool(node, "global_average_pool", {});
}

Status import_qlinear_reduce_mean(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(4, 5));
  NEREID_TRY(const Ints axes, node.integers("axes", Ints()));
  NEREID_TRY(const int64_t keep, node.integer("keepdims", 1));
  NEREID_TRY(const ValueId x, dequantized(node, 0));
  const ValueId which = axes.empty() ? ValueId() : node.constant_integers(axes);
  NEREID_TRY(const ValueId y, node.emit("reduce_mean", {x, which}, {{"keepdims", keep != 0}}));
  return give_quantized(node, y, 3, node.type(node.input(0)).dtype);
}

// Inputs: the scale and zero point of y; then x, its scale and zero point for each part.
Status import_qlinear_concat(NodeContext& node) {
  NEREID_TRY(const int64_t axis, node.integer("axis"));
  if (node.input_count() < 5 || (node.input_count() - 2) % 3 != 0)
    return invalid_argument("it has {} inputs and should have 2 and 3 for each part", node.input_count());
  std::vector<ValueId> parts;
  for (size_t i = 2; i < node.input_count(); i += 3) {
    NEREID_TRY(const ValueId part, dequantized(node, i));
    parts.push_back(part);
  }
  NEREID_TRY(const ValueId y, node.emit("concat", std::move(parts), {{"axis", axis}}));
  return give_quantized(node, y, 0, node.type(node.input(2)).dtype);
}

Status import_qlinear_where(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(9, 9));
  NEREID_TRY(const ValueId x, dequantized(node, 1));
  NEREID_TRY(const ValueId y, dequantized(node, 4));
  NEREID_TRY(const ValueId z, node.emit("where", {node.input(0), x, y}));
  return give_quantized(node, z, 7, node.type(node.input(1)).dtype);
}

}  // namespace nereid::import::onnx
