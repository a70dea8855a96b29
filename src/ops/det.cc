// SPDX-License-Identifier: Apache-2.0
// det: determinants of square matrices, by elimination with the largest element of a column as pivot.
#include <cmath>

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
  const std::vector<Dim>& dims = rule.shape(0).dims();
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::vector<Dim>(dims.begin(), dims.end() - 2))}};
}

double determinant(double* m, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    if (pivot != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(m[pivot * n + j], m[k * n + j]);
      product = -product;
    }
    product *= m[k * n + k];
    if (m[k * n + k] == 0) return 0;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / m[k * n + k];
      for (int64_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return product;
}

Status evaluate(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[0]);
  const int64_t n = ctx.inputs[0].sizes.back();
  Elements<double> y(ctx.outputs[0].elements());
  for (int64_t i = 0; i < y.size(); ++i) y[i] = determinant(x.data() + i * n * n, n);
  return store<double>(ctx.outputs[0], y);
}

}  // namespace

extern constexpr OpDef kDet = {.name = "det",
                               .summary = "y = determinants of the matrices in the last two dimensions",
                               .inputs = kInputs,
                               .outputs = kOutputs,
                               .attrs = {},
                               .infer = infer,
                               .evaluate = evaluate};

}  // namespace nereid::ops
