// SPDX-License-Identifier: Apache-2.0
// gemm: the product of two matrices, either transposed if wanted, plus a third that broadcasts.
#include <cmath>

#include "ops/shape_rule.h"
#include "ops/wide.h"

namespace nereid::ops {
namespace {

enum : size_t { kA, kB, kC };
constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}, {.name = "c", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"alpha", AttrSpec::Kind::kFloat, "1.0", "factor of the product"},
                               {"beta", AttrSpec::Kind::kFloat, "1.0", "factor of c"},
                               {"transA", AttrSpec::Kind::kBool, "false", "a is stored [k, m]"},
                               {"transB", AttrSpec::Kind::kBool, "false", "b is stored [n, k]"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kA, kB}) {
    if (!is_integer(rule.type(i).dtype)) NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 2));
  }
  const int a = ctx.attrs.boolean("transA") ? 1 : 0;  // the dimension of a that is m
  const int b = ctx.attrs.boolean("transB") ? 0 : 1;  // the dimension of b that is n
  NEREID_RETURN_IF_ERROR(rule.agree(kA, 1 - a, kB, 1 - b));
  const Shape shape{rule.dim(kA, a), rule.dim(kB, b)};
  for (size_t i : {kB, kC})
    if (rule.has(i) && rule.type(i).dtype != rule.type(kA).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(kA), rule.describe(i));
  if (rule.has(kC)) {
    bool fits = rule.rank(kC) <= 2;
    for (int d = 1; fits && d <= rule.rank(kC); ++d)
      fits = rule.dim(kC, -d) == Dim(1) || merge(rule.dim(kC, -d), shape[2 - d]);
    if (!fits) return invalid_argument("{} does not broadcast to {}", rule.describe(kC), shape.to_string());
  }
  return std::vector<TensorType>{{rule.type(kA).dtype, shape}};
}

Status evaluate(const EvalContext& ctx) {
  const int64_t m = ctx.outputs[0].sizes[0];
  const int64_t n = ctx.outputs[0].sizes[1];
  const bool ta = ctx.attrs.boolean("transA");
  const bool tb = ctx.attrs.boolean("transB");
  const int64_t depth = ctx.inputs[kA].sizes[ta ? 0 : 1];
  const double alpha = ctx.attrs.real("alpha");
  const double beta = ctx.attrs.real("beta");
  return with_wide(ctx.outputs[0].dtype, [&]<typename T>() {
    const Elements<T> a = load<T>(ctx.inputs[kA]);
    const Elements<T> b = load<T>(ctx.inputs[kB]);
    Elements<T> y(m * n);
    // Integers keep all their bits unless there is something to scale.
    const auto scaled = [](double factor, T v) {
      return factor == 1 ? v : static_cast<T>(factor * static_cast<double>(v));
    };
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t k = 0; k < depth; ++k) {
        const T left = a[ta ? k * m + i : i * depth + k];
        for (int64_t j = 0; j < n; ++j)
          y[i * n + j] = wide_add(y[i * n + j], wide_multiply(left, b[tb ? j * depth + k : k * n + j]));
      }
    }
    for (T& v : y) v = scaled(alpha, v);
    if (ctx.inputs[kC].data != nullptr && beta != 0) {
      const Elements<T> c = load<T>(ctx.inputs[kC]);
      const std::vector<int64_t>& sizes = ctx.inputs[kC].sizes;
      const bool has_columns = !sizes.empty() && sizes.back() != 1;
      const bool has_rows = sizes.size() == 2 && sizes[0] != 1;
      const int64_t row = has_rows ? sizes.back() : 0;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          y[i * n + j] = wide_add(y[i * n + j], scaled(beta, c[i * row + (has_columns ? j : 0)]));
    }
    return store<T>(ctx.outputs[0], y);
  });
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Dim& depth = ctx.inputs[kA]->shape[ctx.attrs.boolean("transA") ? 0 : 1];
  c.flops = 2 * elements_of(outputs[0]) * static_cast<double>(depth.is_static() ? depth.size() : 1);
  return c;
}

}  // namespace

extern constexpr OpDef kGemm = {.name = "gemm",
                                .summary = "y = alpha * a * b + beta * c",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = kAttrs,
                                .infer = infer,
                                .evaluate = evaluate,
                                .cost = cost};

}  // namespace nereid::ops
