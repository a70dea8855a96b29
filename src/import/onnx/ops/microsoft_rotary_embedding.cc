// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of com.microsoft: positions come second, and the number of heads may follow from the caches.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_microsoft_rotary_embedding(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(4, 4));
  NEREID_TRY(const int64_t interleaved, node.integer("interleaved", 0));
  NEREID_TRY(int64_t heads, node.integer("num_heads", 0));
  NEREID_TRY(const int64_t turned, node.integer("rotary_embedding_dim", 0));
  NEREID_TRY(const int64_t packed, node.integer("is_packed_batching", 0));
  if (packed != 0) return unsupported("samples of different lengths in one (is_packed_batching)");
  const Shape& x = node.type(node.input(0)).shape;
  const Shape& angles = node.type(node.input(2)).shape;
  if (heads == 0 && x.rank() == 3 && angles.rank() == 2 && x[2].is_static() && angles[1].is_static() &&
      angles[1].size() > 0)
    heads = x[2].size() / (2 * angles[1].size());
  return node.lower("rotary_embedding", {node.input(0), node.input(2), node.input(3), node.input(1)},
                    {{"interleaved", interleaved != 0}, {"num_heads", heads}, {"rotary_embedding_dim", turned}});
}

}  // namespace nereid::import::onnx
