// SPDX-License-Identifier: Apache-2.0
#include "ops/quantization.h"

#include <algorithm>
#include <cmath>

#include "base/float_convert.h"
#include "ops/round_float.h"

namespace nereid::ops {
namespace {

int64_t product_of_sizes(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

// An axis says nothing of a tensor with one dimension.
int64_t resolve(int64_t axis, int rank) {
  return rank == 1 ? 0 : axis < 0 ? axis + rank : axis;
}

}  // namespace

ScaleIndex::ScaleIndex(const std::vector<int64_t>& sizes, const std::vector<int64_t>& scale_sizes, int64_t axis,
                       int64_t block)
    : single_(product_of_sizes(scale_sizes) == 1) {
  if (single_ || product_of_sizes(sizes) == 0) return;
  const AxisSteps steps = axis_steps(sizes, resolve(axis, static_cast<int>(sizes.size())));
  size_ = steps.size;
  inner_ = steps.inner;
  if (block == 0) return;
  block_ = block;
  scale_outer_ = size_ / block + (size_ % block != 0);
  scale_inner_ = inner_;
}

bool is_single(const Shape& shape) {
  return std::ranges::all_of(shape.dims(), [](const Dim& d) { return merge(d, Dim(1)).has_value(); });
}

Status check_single(const ShapeRule& rule, size_t i) {
  if (is_single(rule.shape(i))) return Status::ok();
  return invalid_argument("{} should be one number", rule.describe(i));
}

Status check_scale(const ShapeRule& rule, size_t x, size_t scale, size_t zero, int64_t axis, int64_t block) {
  if (block < 0) return invalid_argument("block_size is {} and should not be negative", block);
  if (rule.has(zero) && !(is_single(rule.shape(scale)) && is_single(rule.shape(zero)))) {
    bool same = rule.rank(scale) == rule.rank(zero);
    for (int d = 0; same && d < rule.rank(scale); ++d) same = merge(rule.dim(scale, d), rule.dim(zero, d)).has_value();
    if (!same)
      return invalid_argument("{} and {} should have the same shape", rule.describe(scale), rule.describe(zero));
  }
  if (is_single(rule.shape(scale)) && rule.shape(scale).is_static()) return Status::ok();
  if (rule.rank(x) != 1) NEREID_RETURN_IF_ERROR(rule.has_axis(x, axis));
  const int at = static_cast<int>(resolve(axis, rule.rank(x)));
  if (block == 0) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(scale, 1));
    return rule.agree(scale, 0, x, at);
  }
  NEREID_RETURN_IF_ERROR(rule.has_rank(scale, rule.rank(x)));
  for (int d = 0; d < rule.rank(x); ++d)
    if (d != at) NEREID_RETURN_IF_ERROR(rule.agree(scale, d, x, d));
  if (!rule.dim(x, at).is_static()) return Status::ok();
  const int64_t size = rule.dim(x, at).size();
  return rule.has_size(scale, at, size / block + (size % block != 0), "the blocks of the axis");
}

Status is_byte(const ShapeRule& rule, size_t i) {
  if (rule.type(i).dtype == DType::i8 || rule.type(i).dtype == DType::u8) return Status::ok();
  return invalid_argument("{} should be i8 or u8", rule.describe(i));
}

bool is_quantized(DType dtype) {
  if (is_integer(dtype)) return bits_of(dtype) <= 16;
  return is_float(dtype) && bits_of(dtype) <= 8 && dtype != DType::f8e8m0;
}

double quantize(DType dtype, double value, double zero) {
  const double high = std::ldexp(1.0, bits_of(dtype) - !is_unsigned(dtype)) - 1;
  const double low = is_unsigned(dtype) ? 0 : -high - 1;
  const double q = std::isnan(value) ? zero : std::nearbyint(value) + zero;
  return std::clamp(q, low, high);
}

double rounded_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<float>(value);
    case DType::f16:
      return f16_to_f32(f32_to_f16(round_to_odd(value)));
    case DType::bf16:
      return bf16_to_f32(f32_to_bf16(round_to_odd(value)));
    default:
      return value;
  }
}

}  // namespace nereid::ops
