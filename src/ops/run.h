// SPDX-License-Identifier: Apache-2.0
// One op on concrete tensors: its shape rule, memory for its results, its evaluator.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/op.h"
#include "ops/tensor.h"

namespace nereid::ops {

// Absent inputs have null data and rank 0; states have their writable views at the same index as in `inputs` (the span
// may be empty if there are none). Attributes are complete.
Result<std::vector<Tensor>> run(const OpDef& op, std::span<const ConstTensorView> inputs,
                                std::span<TensorView* const> states, const Attrs& attrs);

}  // namespace nereid::ops
