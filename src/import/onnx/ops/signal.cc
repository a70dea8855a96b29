// SPDX-License-Identifier: Apache-2.0
// DFT (its axis is an attribute in opset 17, an input since), the windows and MelWeightMatrix, whose element types are
// numbers.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_dft(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 3));
  NEREID_TRY(const int64_t inverse, node.integer("inverse", 0));
  NEREID_TRY(const int64_t onesided, node.integer("onesided", 0));
  ValueId axis = node.input(2);
  if (node.version() < 20) {
    NEREID_TRY(const int64_t given, node.integer("axis", 1));
    axis = node.constant_integers({given});
  }
  return node.lower("dft", {node.input(0), node.input(1), axis},
                    {{"inverse", inverse != 0}, {"onesided", onesided != 0}});
}

Status import_window(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const int64_t periodic, node.integer("periodic", 1));
  NEREID_TRY(const DType dtype, node.dtype("output_datatype", DType::f32));
  const std::string_view op = node.op_type() == "BlackmanWindow"  ? "blackman_window"
                              : node.op_type() == "HammingWindow" ? "hamming_window"
                                                                  : "hann_window";
  return node.lower(op, node.inputs(), {{"periodic", periodic != 0}, {"dtype", std::string(dtype_name(dtype))}});
}

Status import_mel_weight_matrix(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(5, 5));
  NEREID_TRY(const DType dtype, node.dtype("output_datatype", DType::f32));
  return node.lower("mel_weight_matrix", node.inputs(), {{"dtype", std::string(dtype_name(dtype))}});
}

}  // namespace nereid::import::onnx
