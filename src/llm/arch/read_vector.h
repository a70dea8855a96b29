// SPDX-License-Identifier: Apache-2.0
// A small tensor (norm weight, bias, rope factors) as f32, whatever the file stores it in.
#pragma once

#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::llm {

// Elements [first, first + size) of a vector. kUnsupported for types that are no weights; kInvalidArgument for a value
// that is not finite, which would make every logit NaN.
Result<std::vector<float>> read_vector(const ConstTensorView& tensor, int64_t first, int64_t size);

}  // namespace nereid::llm
