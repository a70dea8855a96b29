// SPDX-License-Identifier: Apache-2.0
// com.microsoft products of quantised matrices: QGemm, MatMulIntegerToFloat, DynamicQuantizeMatMul, QLinearConv with
// channels last.
#include "import/onnx/ops/node_context.h"
#include "import/onnx/ops/quantized.h"

namespace nereid::import::onnx {
Result<ValueId> scaled_product(NodeContext& node, std::vector<ValueId> matrices_and_zeros, ValueId a_scale,
                               ValueId b_scale, ValueId bias) {
  NEREID_TRY(const ValueId sums, node.emit("matmul_integer", std::move(matrices_and_zeros)));
  const std::string real(dtype_name(node.type(a_scale).dtype));
  NEREID_TRY(const ValueId wide, node.emit("cast", {sums}, {{"dtype", real}}));
  NEREID_TRY(const ValueId scale, node.emit("mul", {a_scale, b_scale}));
  NEREID_TRY(const ValueId scaled, node.emit("mul", {wide, scale}));
  if (!bias.valid()) return scaled;
  return node.emit("add", {scaled, bias});
}

Status import_matmul_integer_to_float(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(4, 7));
  NEREID_TRY(const ValueId y, scaled_product(node, {node.input(0), node.input(1), node.input(4), node.input(5)},
                                             node.input(2), node.input(3), node.input(6)));
  node.give(0, y);
  return Status::ok();
}

Status import_dynamic_quantize_matmul(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 5));
  NEREID_TRY(const std::vector<ValueId> a, node.emit_all("dynamic_quantize_linear", {node.input(0)}, {}, 3));
  NEREID_TRY(const ValueId y,
             scaled_product(node, {a[0], node.input(1), a[2], node.input(3)}, a[1], node.input(2), node.input(4)));
  node.give(0, y);
  return Status::ok();
}

// Inputs: a, b and their scales and zero points; a bias of i32 in units of both scales; the result's scale and zero
// point, without which it stays real.
Status import_qgemm(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(6, 9));
  NEREID_TRY(const double alpha, node.real("alpha", 1.0));
  NEREID_TRY(const int64_t trans_a, node.integer("transA", 0));
  NEREID_TRY(const int64_t trans_b, node.integer("transB", 0));
  NEREID_TRY(const ValueId a, dequantized(node, 0, trans_a != 0 ? 1 : 0));
  NEREID_TRY(const ValueId b, dequantized(node, 3, trans_b != 0 ? 0 : 1));
  ValueId c;
  if (node.has_input(6)) {
    const std::string real(dtype_name(node.type(node.input(1)).dtype));
    NEREID_TRY(const ValueId wide, node.emit("cast", {node.input(6)}, {{"dtype", real}}));
    NEREID_TRY(const ValueId scale, node.emit("mul", {node.input(1), node.input(4)}));
    NEREID_TRY(c, node.emit("mul", {wide, scale}));
  }
  // The bias is scaled with the product.
  const ops::Attrs attrs = {{"alpha", alpha}, {"beta", alpha}, {"transA", trans_a != 0}, {"transB", trans_b != 0}};
  if (!node.has_input(7)) return node.lower("gemm", {a, b, c}, attrs);
  NEREID_TRY(const ValueId y, node.emit("gemm", {a, b, c}, attrs));
  return give_quantized(node, y, 7, node.type(node.input(0)).dtype);
}

Status import_qlinear_conv(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(8, 9));
  ops::Attrs attrs;
  NEREID_TRY(std::string auto_pad, node.text("auto_pad", "NOTSET"));
  NEREID_TRY(const int64_t group, node.integer("group", 1));
  NEREID_TRY(const int64_t channels_last, node.integer("channels_last", 0));
  attrs.set("auto_pad", std::move(auto_pad));
  attrs.set("group", group);
  for (const char* name : {"dilations", "kernel_shape", "pads", "strides"}) {
    NEREID_TRY(std::vector<int64_t> list, node.integers(name, std::vector<int64_t>()));
    attrs.set(name, std::move(list));
  }
  std::vector<ValueId> inputs = node.inputs();
  if (channels_last == 0) return node.lower("qlinear_conv", std::move(inputs), std::move(attrs));
  NEREID_TRY(inputs[0], channels_to_front(node, inputs[0]));
  NEREID_TRY(const ValueId y, node.emit("qlinear_conv", std::move(inputs), std::move(attrs)));
  NEREID_TRY(const ValueId back, channels_to_back(node, y));
  node.give(0, back);
  return Status::ok();
}

}  // namespace nereid::import::onnx
