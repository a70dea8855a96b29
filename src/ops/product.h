// SPDX-License-Identifier: Apache-2.0
// Rows times the transpose of a weight matrix, decoded row by row: the arithmetic of linear and gated_linear.
#pragma once

#include <functional>
#include <span>

#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::ops {

// Calls emit(t, n, sum over k of x[t, k] * w[n, k]) for every row t of x (x.size() / K rows) and row n of w [N, K].
// Sums are kept in double.
Status for_each_product(std::span<const float> x, const ConstTensorView& w,
                        const std::function<void(int64_t t, int64_t n, double product)>& emit);

}  // namespace nereid::ops
