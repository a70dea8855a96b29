// SPDX-License-Identifier: Apache-2.0
// What gathering and scattering by a tensor of indices share: where in x each index points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"
#include "ops/shape_rule.h"

namespace nereid::ops {

// Of gather_elements and scatter_elements: `indices` has x's rank, and no size beyond x's but along `axis`.
Status check_element_indices(const ShapeRule& rule, size_t x, size_t indices, int64_t axis);
// For each place of `indices` the element of x (of these sizes) in that place but along `axis`, where the index says.
Result<std::vector<int64_t>> element_places(std::span<const int64_t> sizes, const ConstTensorView& indices,
                                            int64_t axis);

// Of gather_nd and scatter_nd: for each row of `indices` the first element of the slice of x whose leading coordinates,
// after `batch_dims` that x and indices share, the row holds. None if the slices have no elements.
Result<std::vector<int64_t>> slice_places(std::span<const int64_t> sizes, const ConstTensorView& indices,
                                          int64_t batch_dims);
// The elements of such a slice.
int64_t slice_size(std::span<const int64_t> sizes, const ConstTensorView& indices, int64_t batch_dims);

}  // namespace nereid::ops
