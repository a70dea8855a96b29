// SPDX-License-Identifier: Apache-2.0
// A tensor in ordinary memory that owns its bytes: what the reference interpreter and the tests pass around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::ops {

struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::vector<std::byte> bytes;      // empty for strings
  std::vector<std::string> strings;  // the elements, if dtype is string

  // Zeros; empty strings. kInvalidArgument when the sizes make no whole number of blocks or overflow.
  static Result<Tensor> zeros(DType dtype, std::vector<int64_t> sizes);
  // The numbers rounded to dtype: floats, block formats, or integers. As many values as the sizes need (checked).
  static Tensor of(DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values);

  // Never null, also for tensors without elements.
  TensorView view() { return {data(), dtype, sizes}; }
  ConstTensorView view() const { return {const_cast<Tensor*>(this)->data(), dtype, sizes}; }
  // A copy of somebody else's tensor.
  static Tensor copy(const ConstTensorView& view);
  // Every element as a number; block formats decoded.
  std::vector<double> numbers() const;

 private:
  void* data();
};

}  // namespace nereid::ops
