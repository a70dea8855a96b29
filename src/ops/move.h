// SPDX-License-Identifier: Apache-2.0
// What ops that only move elements share: copying by steps or by positions, for any plain dtype (strings and types of
// less than a byte too); axes, indices and ranks that come from data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {

// Elements between neighbours along each dimension.
std::vector<int64_t> row_major_steps(std::span<const int64_t> sizes);

// y in row-major order = x's elements at start + sum of index[d] * steps[d]. The caller answers for their being there.
void copy_by_steps(const TensorView& y, const ConstTensorView& x, std::span<const int64_t> steps, int64_t start = 0);

// y[i0, i1, ...] = x[at[0][i0], at[1][i1], ...]; where an entry is -1, y keeps what it holds. One list a dimension of x
// and y, which have one rank; as many entries as y has places there (none are needed if y has no elements).
void copy_by_places(const TensorView& y, const ConstTensorView& x, const std::vector<std::vector<int64_t>>& at);

// 0, 1, ..., n - 1.
std::vector<int64_t> every_place(int64_t n);

// Each element of y = element `index` of value.
void fill(const TensorView& y, const ConstTensorView& value, int64_t index = 0);

// All of x, in order; as many elements as y has (checked).
Status copy_all(const TensorView& y, const ConstTensorView& x);

// The tensor as it is, under other sizes.
inline TensorView with_sizes(TensorView view, std::vector<int64_t> sizes) {
  view.sizes = std::move(sizes);
  return view;
}

// Input i is of a plain dtype, no block format.
Status is_movable(const ShapeRule& rule, size_t i);

// A rank that comes from data: no more than any tensor may have.
Status is_rank(int64_t rank);
// A result of which only the rank is known, if that.
Result<Shape> shape_of_rank(const Dim& rank);

// The axes counted from the start; refuses those that are not there and those that stand twice. `what` names their
// source: "axes".
Result<std::vector<size_t>> wrap_axes(std::span<const int64_t> axes, int rank, std::string_view what);

// An index counted from the start; refuses one outside. `what` names it: "indices[3]" is made of "indices" and 3.
Result<int64_t> wrap_index(int64_t index, int64_t size, std::string_view what, int64_t place);

// Input i, a tensor of one integer; nothing where its value is not known.
Result<std::optional<int64_t>> known_scalar(const InferContext& ctx, const ShapeRule& rule, size_t i);

}  // namespace nereid::ops
