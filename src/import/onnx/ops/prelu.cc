// SPDX-License-Identifier: Apache-2.0
// PRelu: before opset 7 a slope of one dimension has a number a channel, which is dimension 1.
#include "import/onnx/ops/broadcast_axis.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_prelu(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  ValueId slope = node.input(1);
  const Shape& x = node.type(node.input(0)).shape;
  const Shape& s = node.type(slope).shape;
  if (node.version() < 7 && x.is_ranked() && s.is_ranked() && x.rank() > 1 && s.rank() == 1 && s[0] != Dim(1)) {
    NEREID_TRY(slope, stretch_to_axis(node, slope, x.rank(), 1));
  }
  return node.lower("prelu", {node.input(0), slope});
}

}  // namespace nereid::import::onnx
