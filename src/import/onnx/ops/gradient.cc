// SPDX-License-Identifier: Apache-2.0
// Gradient: refused; networks are run here, not differentiated.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_gradient(NodeContext&) {
  return unsupported("derivatives of a graph are not taken here; export the model with its gradient computed by nodes");
}

}  // namespace nereid::import::onnx
