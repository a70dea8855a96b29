// SPDX-License-Identifier: Apache-2.0
// How operators on quantised tensors are read: as the operator on real numbers between dequantize and quantize, which
// passes join into one again.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

// The real numbers of inputs x, x + 1 (the scale) and x + 2 (the zero point, which may be absent); along `axis` where
// there is more than one scale.
Result<ValueId> dequantized(NodeContext& node, size_t x, int64_t axis = 1);
// Gives output 0: `value` quantised with inputs `scale` and scale + 1 (the zero point; absent: of type `dtype`, 0).
Status give_quantized(NodeContext& node, ValueId value, size_t scale, DType dtype);

// The product in i32 of {a, b, zero point of a, of b} (the zero points may be absent) times both scales, plus a bias
// (which may be absent), in the type of a's scale.
Result<ValueId> scaled_product(NodeContext& node, std::vector<ValueId> matrices_and_zeros, ValueId a_scale,
                               ValueId b_scale, ValueId bias);

// Images with channels last brought to channels first, and back.
Result<ValueId> channels_to_front(NodeContext& node, ValueId x);
Result<ValueId> channels_to_back(NodeContext& node, ValueId x);

}  // namespace nereid::import::onnx
