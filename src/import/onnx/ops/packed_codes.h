// SPDX-License-Identifier: Apache-2.0
// Codes of 2, 4 or 8 bits that com.microsoft's block-quantised operators keep in bytes, the first in the lowest bits.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

// What such codes are in our vocabulary: u2, u4 or u8. kInvalidArgument for another number of bits.
Result<DType> code_dtype(int64_t bits);
// A constant u8 tensor whose last dimension holds codes of so many bits, as a tensor of code_dtype with `codes` of them
// in each row; bits that pad a row's last byte are dropped. kUnsupported if it is no constant, kInvalidArgument if the
// rows are too short; `what` names it.
Result<ops::Tensor> unpack_codes(const NodeContext& node, ValueId packed, int64_t bits, std::vector<int64_t> sizes,
                                 std::string_view what);
// Zero points that are not given: all 2^(bits - 1).
ops::Tensor middle_codes(DType dtype, std::vector<int64_t> sizes);

}  // namespace nereid::import::onnx
