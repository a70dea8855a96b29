// SPDX-License-Identifier: Apache-2.0
// Steps through broadcast tensors, and the type checks of elementwise ops.
#include "ops/elementwise.h"

#include <algorithm>

namespace nereid::ops {

BroadcastWalk::BroadcastWalk(const std::vector<int64_t>& out, std::span<const ConstTensorView> inputs)
    : sizes_(out), index_(out.size(), 0), steps_(out.size() * inputs.size(), 0), at_(inputs.size(), 0) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int64_t>& in = inputs[i].sizes;
    NEREID_CHECK(in.size() <= out.size());
    int64_t stride = 1;
    for (size_t k = 1; k <= in.size(); ++k) {
      const int64_t size = in[in.size() - k];
      if (size != 1) steps_[(out.size() - k) * inputs.size() + i] = stride;
      stride *= size;
    }
  }
}

Status is_number(const ShapeRule& rule, size_t i) {
  if (is_integer(rule.type(i).dtype) || rule.is_activation(i).is_ok()) return Status::ok();
  return invalid_argument("{} should be f32, f64, f16, bf16 or an integer type", rule.describe(i));
}

Status is_whole(const ShapeRule& rule, size_t i) {
  if (is_integer(rule.type(i).dtype)) return Status::ok();
  return invalid_argument("{} should be an integer type", rule.describe(i));
}

Status is_truth(const ShapeRule& rule, size_t i) {
  if (rule.type(i).dtype == DType::boolean) return Status::ok();
  return invalid_argument("{} should be bool", rule.describe(i));
}

Result<Shape> broadcast_inputs(const ShapeRule& rule, size_t first, size_t count) {
  Shape shape = rule.shape(first);
  for (size_t i = first + 1; i < count; ++i) {
    auto both = broadcast(shape, rule.shape(i));
    if (!both && i == first + 1)
      return invalid_argument("{} and {} do not broadcast", rule.describe(first), rule.describe(i));
    if (!both)
      return invalid_argument("{} does not broadcast with {}, the shape of those before it", rule.describe(i),
                              shape.to_string());
    shape = std::move(*both);
  }
  return shape;
}

Status one_dtype(const ShapeRule& rule, size_t first, size_t count) {
  for (size_t i = first + 1; i < count; ++i)
    if (rule.type(i).dtype != rule.type(first).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(first), rule.describe(i));
  return Status::ok();
}

namespace {
int64_t byte_offset(DType dtype, int64_t first) {
  const DTypeInfo& info = dtype_info(dtype);
  NEREID_CHECK(dtype != DType::string && first % kPart == 0);
  return first / info.block_elements * info.block_bytes;
}
}  // namespace

ConstTensorView part(const ConstTensorView& view, int64_t first, int64_t count) {
  return {view.as<std::byte>() + byte_offset(view.dtype, first), view.dtype, {count}};
}

TensorView part(const TensorView& view, int64_t first, int64_t count) {
  return {view.as<std::byte>() + byte_offset(view.dtype, first), view.dtype, {count}};
}

int bits_of(DType dtype) {
  const DTypeInfo& info = dtype_info(dtype);
  return info.block_bytes * 8 / info.block_elements;
}

}  // namespace nereid::ops
