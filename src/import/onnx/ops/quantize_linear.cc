// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear: element types are numbers, 0 where none is asked for.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

// The name of the element type an attribute asks for; empty for none.
Result<std::string> dtype_text(NodeContext& node, std::string_view attr) {
  NEREID_TRY(const int64_t number, node.integer(attr, 0));
  if (number == 0) return std::string();
  NEREID_TRY(const DType dtype, node.dtype(attr));
  return std::string(dtype_name(dtype));
}

}  // namespace

Status import_quantize_linear(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(const int64_t axis, node.integer("axis", 1));
  NEREID_TRY(const int64_t block, node.integer("block_size", 0));
  NEREID_TRY(const int64_t saturate, node.integer("saturate", 1));
  NEREID_TRY(const std::string dtype, dtype_text(node, "output_dtype"));
  NEREID_TRY(const std::string precision, dtype_text(node, "precision"));
  return node.lower("quantize_linear", node.inputs(),
                    {{"axis", axis},
                     {"block_size", block},
                     {"output_dtype", dtype},
                     {"precision", precision},
                     {"saturate", saturate != 0}});
}

Status import_dequantize_linear(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 3));
  NEREID_TRY(const int64_t axis, node.integer("axis", 1));
  NEREID_TRY(const int64_t block, node.integer("block_size", 0));
  NEREID_TRY(const std::string dtype, dtype_text(node, "output_dtype"));
  return node.lower("dequantize_linear", node.inputs(),
                    {{"axis", axis}, {"block_size", block}, {"output_dtype", dtype}});
}

}  // namespace nereid::import::onnx
