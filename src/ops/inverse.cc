// SPDX-License-Identifier: Apache-2.0
// inverse: of square matrices, by Gauss-Jordan elimination with the largest element of a column as pivot.
#include <cmath>
#include <utility>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(0, 2));
  NEREID_RETURN_IF_ERROR(rule.agree(0, -1, 0, -2));
  return std::vector<TensorType>{rule.type(0)};
}

// y becomes the inverse of m, which is spent; false if there is none.
bool invert(double* m, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) y[i * n + j] = i == j ? 1 : 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    if (m[pivot * n + k] == 0) return false;
    const double scale = 1 / m[pivot * n + k];
    for (int64_t j = 0; j < n; ++j) {
      std::swap(m[pivot * n + j], m[k * n + j]);
      std::swap(y[pivot * n + j], y[k * n + j]);
      m[k * n + j] *= scale;
      y[k * n + j] *= scale;
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = m[i * n + k];
      for (int64_t j = 0; j < n; ++j) {
        m[i * n + j] -= factor * m[k * n + j];
        y[i * n + j] -= factor * y[k * n + j];
      }
    }
  }
  return true;
}

Status evaluate(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[0]);
  const int64_t n = ctx.inputs[0].sizes.back(), matrices = n == 0 ? 0 : x.size() / (n * n);
  Elements<double> y(x.size());
  for (int64_t i = 0; i < matrices; ++i)
    if (!invert(x.data() + i * n * n, y.data() + i * n * n, n))
      return invalid_argument("matrix {} of x has no inverse", i);
  return store<double>(ctx.outputs[0], y);
}

}  // namespace

extern constexpr OpDef kInverse = {.name = "inverse",
                                   .summary = "y = inverses of the matrices in the last two dimensions",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = {},
                                   .infer = infer,
                                   .evaluate = evaluate,
                                   .tolerance_f32 = 1e-4};

}  // namespace nereid::ops
