// SPDX-License-Identifier: Apache-2.0
// What ops on quantised tensors share: which scale and zero point belong to which element, how a real number becomes a
// quantised one, and the checks of both.
//
// A scale is one number; one number a position of an axis; or one number a block of an axis, whose other dimensions are
// those of the tensor. The zero point has the scale's shape.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/elementwise.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {

// Which scale belongs to the element at a flat index.
class ScaleIndex {
 public:
  ScaleIndex(const std::vector<int64_t>& sizes, const std::vector<int64_t>& scale_sizes, int64_t axis, int64_t block);
  int64_t operator()(int64_t i) const {
    if (single_) return 0;
    const int64_t at = i / inner_ % size_;
    return ((i / (inner_ * size_)) * scale_outer_ + at / block_) * scale_inner_ + (scale_inner_ == 1 ? 0 : i % inner_);
  }

 private:
  bool single_;
  int64_t size_ = 1, inner_ = 1, block_ = 1;
  int64_t scale_outer_ = 0, scale_inner_ = 1;  // steps of the scale's outer and blocked dimensions
};

// That `scale` fits `x` in one of the three ways, and `zero` (if it is there) fits `scale`.
Status check_scale(const ShapeRule& rule, size_t x, size_t scale, size_t zero, int64_t axis, int64_t block);
// That an input holds one number.
Status check_single(const ShapeRule& rule, size_t i);
bool is_single(const Shape& shape);

Status is_byte(const ShapeRule& rule, size_t i);  // i8 or u8
// The integers of up to 16 bits and the floats of up to 8 bits, but f8e8m0.
bool is_quantized(DType dtype);

// To the nearest integer, halves to the even one, plus the zero point, within the range of an integer type. No number
// becomes the zero point.
double quantize(DType dtype, double value, double zero);

// A number as the float type would hold it: rounded once. Other types leave it as it is.
double rounded_to(DType dtype, double value);

}  // namespace nereid::ops
