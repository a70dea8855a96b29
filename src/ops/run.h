// SPDX-License-Identifier: Apache-2.0
// One op on concrete values: its shape rule, memory for its results, its evaluator. Not for ops with regions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/datum.h"
#include "ops/op.h"
#include "ops/tensor.h"

namespace nereid::ops {

// Absent inputs have null data and rank 0; states have their writable views at the same index as in `inputs` (the span
// may be empty if there are none). Attributes are complete. Only for ops whose results are plain tensors.
Result<std::vector<Tensor>> run(const OpDef& op, std::span<const ConstTensorView> inputs,
                                std::span<TensorView* const> states, const Attrs& attrs);

// Any op without states. Absent inputs are null.
Result<std::vector<Datum>> run_any(const OpDef& op, std::span<const Datum* const> inputs, const Attrs& attrs);

// The results' types when these types and values go in (both null where an input is absent, values null where not
// known): op.infer, or unranked types where op.infer does not take them. `results` is how many there are.
Result<std::vector<TensorType>> infer_types(const OpDef& op, const InferContext& context, size_t results);

}  // namespace nereid::ops
