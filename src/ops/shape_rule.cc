// SPDX-License-Identifier: Apache-2.0
// Sentences of shape rules, broadcasting and sizes for costs.
#include "ops/shape_rule.h"

#include <algorithm>

#include "ops/elements.h"

namespace nereid::ops {

std::string ShapeRule::describe(size_t i) const {
  const ArgSpec& arg = args_[std::min(i, args_.size() - 1)];
  std::string name(arg.name);
  if (arg.variadic) name += fmt::format("[{}]", i - (args_.size() - 1));
  return fmt::format("{} {}", name, type(i).to_string());
}

Status ShapeRule::has_rank(size_t i, int wanted) const {
  if (rank(i) == wanted) return Status::ok();
  return invalid_argument("{} should have {} dimension{}", describe(i), wanted, wanted == 1 ? "" : "s");
}

Status ShapeRule::has_rank_at_least(size_t i, int wanted) const {
  if (rank(i) >= wanted) return Status::ok();
  return invalid_argument("{} should have at least {} dimension{}", describe(i), wanted, wanted == 1 ? "" : "s");
}

Status ShapeRule::is_activation(size_t i) const {
  DType d = type(i).dtype;
  if (d == DType::f32 || d == DType::f64 || d == DType::f16 || d == DType::bf16) return Status::ok();
  return invalid_argument("{} should be f32, f64, f16 or bf16", describe(i));
}

Status ShapeRule::is_weight(size_t i) const {
  DType d = type(i).dtype;
  if (is_block_format(d) || is_activation(i).is_ok()) return Status::ok();
  return invalid_argument("{} should be a float type or a block format", describe(i));
}

Status ShapeRule::is_index(size_t i) const {
  DType d = type(i).dtype;
  if (d == DType::i32 || d == DType::i64) return Status::ok();
  return invalid_argument("{} should be i32 or i64", describe(i));
}

Status ShapeRule::agree(size_t i, int d, size_t j, int e) const {
  if (merge(dim(i, d), dim(j, e))) return Status::ok();
  return invalid_argument("dimension {} of {} is {}, but dimension {} of {} is {}", d < 0 ? d + rank(i) : d,
                          describe(i), dim(i, d).to_string(), e < 0 ? e + rank(j) : e, describe(j),
                          dim(j, e).to_string());
}

Status ShapeRule::has_size(size_t i, int d, int64_t size, std::string_view why) const {
  if (merge(dim(i, d), Dim(size))) return Status::ok();
  return invalid_argument("dimension {} of {} should be {} ({})", d < 0 ? d + rank(i) : d, describe(i), size, why);
}

Status ShapeRule::same_type(size_t i, size_t j) const {
  bool same = type(i).dtype == type(j).dtype && rank(i) == rank(j);
  for (int d = 0; same && d < rank(i); ++d) same = merge(dim(i, d), dim(j, d)).has_value();
  if (same) return Status::ok();
  return invalid_argument("{} and {} should have the same type", describe(i), describe(j));
}

Status ShapeRule::has_axis(size_t i, int64_t axis) const {
  if (axis >= -rank(i) && axis < rank(i)) return Status::ok();
  return invalid_argument("{} has no dimension {}", describe(i), axis);
}

Shape common_shape(const Shape& a, const Shape& b) {
  if (!a.is_ranked() || !b.is_ranked() || a.rank() != b.rank()) return Shape::unranked();
  std::vector<Dim> dims = a.dims();
  for (int d = 0; d < b.rank(); ++d)
    if (a[d] != b[d]) dims[static_cast<size_t>(d)] = Dim::unknown();
  return Shape(std::move(dims));
}

std::optional<std::vector<int64_t>> known_integers(const InferContext& ctx, size_t input) {
  if (input >= ctx.constants.size() || ctx.constants[input] == nullptr) return std::nullopt;
  if (!is_integer(ctx.constants[input]->dtype)) return std::nullopt;
  const Elements<int64_t> values = load<int64_t>(*ctx.constants[input]);
  return std::vector<int64_t>(values.begin(), values.end());
}

AxisSteps axis_steps(std::span<const int64_t> sizes, int64_t axis) {
  const size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(sizes.size()) : axis);
  AxisSteps steps{.outer = 1, .size = sizes[at], .inner = 1};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < at) steps.outer *= sizes[d];
    if (d > at) steps.inner *= sizes[d];
  }
  return steps;
}

std::optional<Dim> merge(const Dim& a, const Dim& b) {
  if (!a.is_static()) return b.is_static() ? b : a;
  if (b.is_static() && a.size() != b.size()) return std::nullopt;
  return a;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims;
  for (int d = 0; d < rank; ++d) {
    int i = d - (rank - a.rank());
    int j = d - (rank - b.rank());
    Dim x = i < 0 ? Dim(1) : a[i];
    Dim y = j < 0 ? Dim(1) : b[j];
    if (x == Dim(1)) {
      dims.push_back(y);
    } else if (y == Dim(1)) {
      dims.push_back(x);
    } else if (!x.is_static() && !y.is_static() && (x != y || x.is_unknown())) {
      dims.push_back(Dim::unknown());  // either may turn out to be 1
    } else {
      auto both = merge(x, y);
      if (!both) return std::nullopt;
      dims.push_back(*both);
    }
  }
  return Shape(std::move(dims));
}

double elements_of(const TensorType& type) {
  double n = 1;
  for (const Dim& d : type.shape.dims())
    if (d.is_static()) n *= static_cast<double>(d.size());
  return n;
}

double bytes_of(const TensorType& type) {
  const DTypeInfo& info = dtype_info(type.dtype);
  return elements_of(type) * info.block_bytes / info.block_elements;
}

Cost traffic(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost;
  for (const TensorType* t : ctx.inputs)
    if (t != nullptr) cost.bytes_read += bytes_of(*t);
  for (const TensorType& t : outputs) cost.bytes_written += bytes_of(t);
  return cost;
}

}  // namespace nereid::ops
