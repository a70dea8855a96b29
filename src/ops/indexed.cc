// SPDX-License-Identifier: Apache-2.0
#include "ops/indexed.h"

#include "ops/elements.h"
#include "ops/move.h"
#include "ops/window.h"

namespace nereid::ops {

Status check_element_indices(const ShapeRule& rule, size_t x, size_t indices, int64_t axis) {
  NEREID_RETURN_IF_ERROR(rule.has_axis(x, axis));
  NEREID_RETURN_IF_ERROR(rule.has_rank(indices, rule.rank(x)));
  const int along = static_cast<int>(axis < 0 ? axis + rule.rank(x) : axis);
  for (int d = 0; d < rule.rank(x); ++d) {
    const Dim &have = rule.dim(x, d), &want = rule.dim(indices, d);
    if (d != along && have.is_static() && want.is_static() && want.size() > have.size())
      return invalid_argument("dimension {} of {} reaches past that of {}", d, rule.describe(indices),
                              rule.describe(x));
  }
  return Status::ok();
}

Result<std::vector<int64_t>> element_places(std::span<const int64_t> sizes, const ConstTensorView& indices,
                                            int64_t axis) {
  const auto along = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(sizes.size()) : axis);
  const std::vector<int64_t> steps = row_major_steps(sizes);
  const Elements<int64_t> values = load<int64_t>(indices);
  std::vector<int64_t> places(static_cast<size_t>(values.size()));
  Positions at(indices.sizes);
  for (int64_t i = 0; i < values.size(); ++i, at.next()) {
    NEREID_TRY(const int64_t index, wrap_index(values[i], sizes[along], "indices", i));
    int64_t place = index * steps[along];
    for (size_t d = 0; d < sizes.size(); ++d)
      if (d != along) place += at[d] * steps[d];
    places[static_cast<size_t>(i)] = place;
  }
  return places;
}

int64_t slice_size(std::span<const int64_t> sizes, const ConstTensorView& indices, int64_t batch_dims) {
  return product_of(sizes.subspan(static_cast<size_t>(batch_dims + indices.sizes.back())));
}

Result<std::vector<int64_t>> slice_places(std::span<const int64_t> sizes, const ConstTensorView& indices,
                                          int64_t batch_dims) {
  const auto batch = static_cast<size_t>(batch_dims);
  const int64_t depth = indices.sizes.back();
  const std::span<const int64_t> rows_of(indices.sizes.data(), indices.sizes.size() - 1);
  // Rows of no coordinates or slices of no elements are as many as the shape says, however few bytes they have.
  if (slice_size(sizes, indices, batch_dims) == 0) return std::vector<int64_t>();
  const std::vector<int64_t> steps = row_major_steps(sizes);
  const int64_t rows = product_of(rows_of), a_batch = product_of(rows_of.subspan(batch));
  const int64_t stride = product_of(sizes.subspan(batch));
  const Elements<int64_t> values = load<int64_t>(indices);
  std::vector<int64_t> places(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place = row / a_batch * stride;
    for (int64_t i = 0; i < depth; ++i) {
      const size_t d = batch + static_cast<size_t>(i);
      NEREID_TRY(const int64_t index, wrap_index(values[row * depth + i], sizes[d], "indices", row * depth + i));
      place += index * steps[d];
    }
    places[static_cast<size_t>(row)] = place;
  }
  return places;
}

}  // namespace nereid::ops
