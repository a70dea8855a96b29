// SPDX-License-Identifier: Apache-2.0
// Products of matrices of small integers or f8 whose rows (of the left) or columns (of the right) have zero points.
//
// Shapes are those of matmul. A parameter of the left matrix is one number, [m], or [..., m, 1]; one of the right is
// one number, [n], or [..., 1, n].
#pragma once

#include <vector>

#include "ops/quantization.h"

namespace nereid::ops {

// The product's shape.
Result<Shape> product_shape(const ShapeRule& rule, size_t a, size_t b);
// That input `i` has the shape of a parameter of the matrix `of`; of the left one if `rows`.
Status check_parameter(const ShapeRule& rule, size_t i, size_t of, bool rows);

// A parameter's sizes as they broadcast to its matrix, or to the product.
std::vector<int64_t> parameter_sizes(const ConstTensorView& parameter, bool rows);

// The product's sizes with the dimension of size 1 that a vector on the left or right leaves out.
std::vector<int64_t> matrix_sizes(std::vector<int64_t> product, size_t a_rank, size_t b_rank);

// x - zero; T: uint32_t (wraps) or float.
template <typename T>
Elements<T> centred(const ConstTensorView& x, const ConstTensorView& zero, bool rows) {
  Elements<T> out = load<T>(x);
  if (zero.data == nullptr) return out;
  const Elements<T> zeros = load<T>(zero);
  const ConstTensorView seen(zero.data, zero.dtype, parameter_sizes(zero, rows));
  BroadcastWalk walk(x.sizes, std::span(&seen, 1));
  for (T& v : out) {
    v -= zeros[walk[0]];
    walk.next();
  }
  return out;
}

// The product of tensors of these sizes, in row-major order.
template <typename T>
Elements<T> product(const Elements<T>& a, std::vector<int64_t> a_sizes, const Elements<T>& b,
                    std::vector<int64_t> b_sizes, std::vector<int64_t> sizes) {
  sizes = matrix_sizes(std::move(sizes), a_sizes.size(), b_sizes.size());
  if (a_sizes.size() == 1) a_sizes.insert(a_sizes.begin(), 1);
  if (b_sizes.size() == 1) b_sizes.push_back(1);
  const int64_t m = sizes[sizes.size() - 2], n = sizes.back(), k = a_sizes.back();
  int64_t batches = 1;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) batches *= sizes[d];
  const auto batch_of = [](const std::vector<int64_t>& s) { return std::vector<int64_t>(s.begin(), s.end() - 2); };
  const ConstTensorView seen[] = {{nullptr, DType::f32, batch_of(a_sizes)}, {nullptr, DType::f32, batch_of(b_sizes)}};
  BroadcastWalk walk(batch_of(sizes), seen);
  Elements<T> y(batches * m * n);
  for (int64_t batch = 0; batch < batches && y.size() > 0; ++batch, walk.next()) {
    const T* am = a.data() + walk[0] * m * k;
    const T* bm = b.data() + walk[1] * k * n;
    for (int64_t i = 0; i < m; ++i) {
      T* row = y.data() + (batch * m + i) * n;
      for (int64_t d = 0; d < k; ++d)
        for (int64_t j = 0; j < n; ++j) row[j] += am[i * k + d] * bm[d * n + j];
    }
  }
  return y;
}

Cost product_cost(const InferContext& ctx, std::span<const TensorType> outputs);  // input 0 is the left matrix

}  // namespace nereid::ops
