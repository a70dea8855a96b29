// SPDX-License-Identifier: Apache-2.0
// matmul: products of matrices in the last two dimensions, the others broadcast; vectors as numpy takes them: a row on
// the left, a column on the right, and the dimension that made them so is not in the result.
#include "ops/op.h"
#include "ops/shape_rule.h"
#include "ops/wide.h"

namespace nereid::ops {
namespace {

enum : size_t { kA, kB };
constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Shape batch_of(const Shape& s) {
  const auto kept = s.dims().end() - std::min(s.rank(), 2);
  return Shape(std::vector<Dim>(s.dims().begin(), kept));
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kA, kB}) {
    if (!is_integer(rule.type(i).dtype)) NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(i, 1));
  }
  if (rule.type(kA).dtype != rule.type(kB).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(kA), rule.describe(kB));
  NEREID_RETURN_IF_ERROR(rule.agree(kA, -1, kB, rule.rank(kB) == 1 ? -1 : -2));
  auto batch = broadcast(batch_of(rule.shape(kA)), batch_of(rule.shape(kB)));
  if (!batch)
    return invalid_argument("the leading dimensions of {} and {} do not broadcast", rule.describe(kA),
                            rule.describe(kB));
  std::vector<Dim> dims = batch->dims();
  if (rule.rank(kA) > 1) dims.push_back(rule.dim(kA, -2));
  if (rule.rank(kB) > 1) dims.push_back(rule.dim(kB, -1));
  return std::vector<TensorType>{{rule.type(kA).dtype, Shape(std::move(dims))}};
}

// Which matrix of `sizes` stands in place `index` of the broadcast batch of `out`. All have at least two dimensions.
int64_t matrix_index(int64_t index, const std::vector<int64_t>& out, const std::vector<int64_t>& sizes) {
  int64_t result = 0;
  int64_t stride = 1;
  for (size_t i = 3; i <= out.size(); ++i) {  // from the innermost batch dimension outwards
    const int64_t size_out = out[out.size() - i];
    const int64_t at = index % size_out;
    index /= size_out;
    if (i > sizes.size()) continue;
    const int64_t size_in = sizes[sizes.size() - i];
    if (size_in != 1) result += at * stride;
    stride *= size_in;
  }
  return result;
}

Status evaluate(const EvalContext& ctx) {
  std::vector<int64_t> a_sizes = ctx.inputs[kA].sizes;
  std::vector<int64_t> b_sizes = ctx.inputs[kB].sizes;
  std::vector<int64_t> out = ctx.outputs[0].sizes;
  if (b_sizes.size() == 1) {
    b_sizes.push_back(1);
    out.push_back(1);
  }
  if (a_sizes.size() == 1) {
    a_sizes.insert(a_sizes.begin(), 1);
    out.insert(out.end() - 1, 1);
  }
  const int64_t rows = out[out.size() - 2];
  const int64_t columns = out.back();
  const int64_t depth = a_sizes.back();
  if (ctx.outputs[0].elements() == 0) return Status::ok();
  const int64_t batches = ctx.outputs[0].elements() / (rows * columns);
  return with_wide(ctx.outputs[0].dtype, [&]<typename T>() {
    const Elements<T> a = load<T>(ctx.inputs[kA]);
    const Elements<T> b = load<T>(ctx.inputs[kB]);
    Elements<T> y(ctx.outputs[0].elements());
    for (int64_t batch = 0; batch < batches; ++batch) {
      const T* am = a.data() + matrix_index(batch, out, a_sizes) * rows * depth;
      const T* bm = b.data() + matrix_index(batch, out, b_sizes) * depth * columns;
      for (int64_t i = 0; i < rows; ++i) {
        T* row = y.data() + (batch * rows + i) * columns;
        for (int64_t k = 0; k < depth; ++k) {
          const T left = am[i * depth + k];
          for (int64_t j = 0; j < columns; ++j) row[j] = wide_add(row[j], wide_multiply(left, bm[k * columns + j]));
        }
      }
    }
    return store<T>(ctx.outputs[0], y);
  });
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Shape& a = ctx.inputs[kA]->shape;
  const Dim& depth = a[a.rank() - 1];
  c.flops = 2 * elements_of(outputs[0]) * static_cast<double>(depth.is_static() ? depth.size() : 1);
  return c;
}

}  // namespace

extern constexpr OpDef kMatmul = {.name = "matmul",
                                  .summary = "y[..., m, n] = sum over k of a[..., m, k] * b[..., k, n]",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = {},
                                  .infer = infer,
                                  .evaluate = evaluate,
                                  .cost = cost};

}  // namespace nereid::ops
