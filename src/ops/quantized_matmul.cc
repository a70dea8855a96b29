// SPDX-License-Identifier: Apache-2.0
#include "ops/quantized_matmul.h"

#include <algorithm>

namespace nereid::ops {
namespace {

Shape batch_of(const Shape& s) {
  return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - std::min(s.rank(), 2)));
}

}  // namespace

Result<Shape> product_shape(const ShapeRule& rule, size_t a, size_t b) {
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(a, 1));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(b, 1));
  NEREID_RETURN_IF_ERROR(rule.agree(a, -1, b, rule.rank(b) == 1 ? -1 : -2));
  const auto batch = broadcast(batch_of(rule.shape(a)), batch_of(rule.shape(b)));
  if (!batch)
    return invalid_argument("the leading dimensions of {} and {} do not broadcast", rule.describe(a), rule.describe(b));
  std::vector<Dim> dims = batch->dims();
  if (rule.rank(a) > 1) dims.push_back(rule.dim(a, -2));
  if (rule.rank(b) > 1) dims.push_back(rule.dim(b, -1));
  return Shape(std::move(dims));
}

Status check_parameter(const ShapeRule& rule, size_t i, size_t of, bool rows) {
  const Status wrong = invalid_argument("{} should be one number or have one for each {} of {}", rule.describe(i),
                                        rows ? "row" : "column", rule.describe(of));
  if (is_single(rule.shape(i)) && rule.rank(i) <= std::max(1, rule.rank(of))) return Status::ok();
  if (rule.rank(of) < 2 || rule.rank(i) > rule.rank(of)) return wrong;
  if (rule.rank(i) == 1) return merge(rule.dim(i, 0), rule.dim(of, rows ? -2 : -1)) ? Status::ok() : wrong;
  for (int d = 1; d <= rule.rank(i); ++d) {
    const bool shared = d == (rows ? 1 : 2);  // along the row or column
    const bool one = merge(rule.dim(i, -d), Dim(1)).has_value();
    if (shared ? !one : !one && !merge(rule.dim(i, -d), rule.dim(of, -d))) return wrong;
  }
  return Status::ok();
}

std::vector<int64_t> parameter_sizes(const ConstTensorView& parameter, bool rows) {
  int64_t elements = 1;
  for (int64_t s : parameter.sizes) elements *= s;
  if (elements == 1) return {};
  std::vector<int64_t> sizes = parameter.sizes;
  if (rows && sizes.size() == 1) sizes.push_back(1);
  return sizes;
}

std::vector<int64_t> matrix_sizes(std::vector<int64_t> product, size_t a_rank, size_t b_rank) {
  if (a_rank == 1) product.insert(product.end() - (b_rank > 1), 1);
  if (b_rank == 1) product.push_back(1);
  return product;
}

Cost product_cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  const Shape& a = ctx.inputs[0]->shape;
  const Dim& depth = a[a.rank() - 1];
  cost.flops = 2 * elements_of(outputs[0]) * static_cast<double>(depth.is_static() ? depth.size() : 1);
  return cost;
}

}  // namespace nereid::ops
