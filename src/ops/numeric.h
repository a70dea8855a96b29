// SPDX-License-Identifier: Apache-2.0
// How evaluators read and write elements: any float dtype or block format as f32, any integer as i64.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::ops {

// The elements of one row (of the last dimension); dst has row_elements() places.
Status read_row(const ConstTensorView& src, int64_t row, std::span<float> dst);
// All elements. Absent tensors (null data, rank 0) give an empty vector.
Result<std::vector<float>> read_floats(const ConstTensorView& src);
Result<std::vector<int64_t>> read_integers(const ConstTensorView& src);

// One element of a float tensor in plain layout, by its flat index.
float read_float(const ConstTensorView& src, int64_t index);
void write_float(const TensorView& dst, int64_t index, float value);
// values.size() elements from flat index `first` on; dst is f32, f64, f16 or bf16 (checked).
void write_floats(const TensorView& dst, int64_t first, std::span<const float> values);

// One element of an i8...u32 or i64 tensor; keeps the low bits of what does not fit.
void write_integer(const TensorView& dst, int64_t index, int64_t value);

}  // namespace nereid::ops
