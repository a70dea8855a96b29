// SPDX-License-Identifier: Apache-2.0
// Cast (the element type is a number from opset 6 on, a word before), CastLike and BitCast.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

Status lower_cast(NodeContext& node, DType to) {
  NEREID_TRY(const int64_t saturate, node.integer("saturate", 1));
  NEREID_TRY(const std::string round_mode, node.text("round_mode", "up"));
  return node.lower("cast", {node.input(0)},
                    {{"dtype", std::string(dtype_name(to))}, {"saturate", saturate != 0}, {"round_mode", round_mode}});
}

}  // namespace

Status import_cast(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const DType to, node.dtype("to"));
  return lower_cast(node, to);
}

Status import_cast_like(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  return lower_cast(node, node.type(node.input(1)).dtype);
}

Status import_bit_cast(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const DType to, node.dtype("to"));
  return node.lower("bit_cast", {node.input(0)}, {{"dtype", std::string(dtype_name(to))}});
}

}  // namespace nereid::import::onnx
