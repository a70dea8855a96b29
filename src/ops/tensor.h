// SPDX-License-Identifier: Apache-2.0
// A tensor in ordinary memory that owns its bytes: what the reference interpreter and the tests pass around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::ops {

struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::vector<std::byte> bytes;

  // Zeros. kInvalidArgument when the sizes make no whole number of blocks or overflow.
  static Result<Tensor> zeros(DType dtype, std::vector<int64_t> sizes);
  // The numbers rounded to dtype: floats, block formats, or integers. As many values as the sizes need (checked).
  static Tensor of(DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values);

  TensorView view() { return {bytes.data(), dtype, sizes}; }
  ConstTensorView view() const { return {bytes.data(), dtype, sizes}; }
  // Every element as a number; block formats decoded.
  std::vector<double> numbers() const;
};

}  // namespace nereid::ops
