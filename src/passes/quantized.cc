// SPDX-License-Identifier: Apache-2.0
#include "passes/quantized.h"

#include <cmath>

namespace nereid::passes {

using graph::Node;
using graph::ValueId;

namespace {

bool is_byte(DType dtype) {
  return dtype == DType::u8 || dtype == DType::i8;
}
bool is_one(const Shape& shape) {
  return shape.is_ranked() && shape.is_static() && shape.elements() == 1;
}

std::optional<Codes> read(const Edit& edit, const Node& node, ValueId codes, ValueId numbers) {
  if (!edit.is_ranked(codes) || !is_byte(edit.type(codes).dtype) || edit.type(numbers).dtype != DType::f32 ||
      edit.type(node.inputs[1]).dtype != DType::f32 || node.attrs.integer("block_size") != 0 ||
      !edit.is_ranked(node.inputs[1]))
    return std::nullopt;
  Codes out{codes, node.inputs[1], node.inputs[2], node.attrs.integer("axis")};
  const int rank = edit.rank(codes);
  out.axis = rank == 1 ? 0 : out.axis < 0 ? out.axis + rank : out.axis;
  out.one = is_one(edit.type(node.inputs[1]).shape);
  return out;
}

}  // namespace

std::optional<Codes> dequantised(const Edit& edit, ValueId v) {
  const Node* node = edit.made_by(v, "dequantize_linear");
  if (node == nullptr) return std::nullopt;
  return read(edit, *node, node->inputs[0], v);
}

std::optional<Codes> quantised(const Edit& edit, const Node& node) {
  if (node.op->name != "quantize_linear" || !node.attrs.text("precision").empty()) return std::nullopt;
  const auto out = read(edit, node, node.outputs[0], node.inputs[0]);
  return out && out->one ? out : std::nullopt;
}

std::optional<Grid> grid_of(const Edit& edit, const Codes& codes) {
  if (!codes.one) return std::nullopt;
  const auto scale = edit.scalar(codes.scale);
  const auto zero = codes.zero.valid() ? edit.scalar(codes.zero) : std::optional(0.0);
  if (!scale || !zero || !(*scale > 0) || !std::isfinite(*scale)) return std::nullopt;
  return Grid{edit.type(codes.codes).dtype, *scale, *zero};
}

bool is_weight_value(const Edit& edit, ValueId v) {
  if (edit.is_constant(v)) return true;
  const auto codes = dequantised(edit, v);
  return codes && edit.is_constant(codes->codes);
}

ValueId scale_constant(Edit& edit, const std::string& name, double scale) {
  return edit.constant(name, DType::f32, {}, {scale});
}
ValueId zero_constant(Edit& edit, const std::string& name, DType dtype, double zero) {
  return edit.constant(name, dtype, {}, {zero});
}

}  // namespace nereid::passes
