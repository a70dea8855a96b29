// SPDX-License-Identifier: Apache-2.0
// gather_nd: the slices of a tensor whose leading coordinates are the rows of indices.
#include <algorithm>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kIndices };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "indices"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"batch_dims", AttrSpec::Kind::kInt, "0", "leading dimensions that x and indices share"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kIndices));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kIndices, 1));
  NEREID_RETURN_IF_ERROR(is_rank(rule.rank(kX) + rule.rank(kIndices)));
  const int64_t batch = ctx.attrs.integer("batch_dims");
  if (batch < 0 || batch >= rule.rank(kX) || batch >= rule.rank(kIndices))
    return invalid_argument("batch_dims is {} and should be at least 0 and less than the rank of {} and of {}", batch,
                            rule.describe(kX), rule.describe(kIndices));
  for (int d = 0; d < batch; ++d) NEREID_RETURN_IF_ERROR(rule.agree(kX, d, kIndices, d));
  const Dim& depth = rule.dim(kIndices, -1);
  if (!depth.is_static()) return std::vector<TensorType>{{rule.type(kX).dtype, Shape::unranked()}};
  if (depth.size() > rule.rank(kX) - batch)
    return invalid_argument("{} has rows of {} coordinates, but {} has {} dimensions after the batch",
                            rule.describe(kIndices), depth.size(), rule.describe(kX), rule.rank(kX) - batch);
  std::vector<Dim> dims(rule.shape(kIndices).dims());
  dims.pop_back();
  for (int d = static_cast<int>(batch + depth.size()); d < rule.rank(kX); ++d) dims.push_back(rule.dim(kX, d));
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const ConstTensorView& indices = ctx.inputs[kIndices];
  const auto batch = static_cast<size_t>(ctx.attrs.integer("batch_dims"));
  const int64_t depth = indices.sizes.back();
  const std::vector<int64_t> steps = row_major_steps(x.sizes);
  int64_t batches = 1;
  int64_t a_batch = 1;  // rows of indices
  int64_t slice = 1;    // elements of x
  for (size_t d = 0; d < batch; ++d) batches *= x.sizes[d];
  for (size_t d = batch; d + 1 < indices.sizes.size(); ++d) a_batch *= indices.sizes[d];
  for (size_t d = batch + static_cast<size_t>(depth); d < x.sizes.size(); ++d) slice *= x.sizes[d];
  const int64_t stride = x.elements() / std::max<int64_t>(batches, 1);
  if (slice == 0 || ctx.outputs[0].elements() == 0) return Status::ok();
  const Elements<int64_t> values = load<int64_t>(indices);
  for (int64_t row = 0; row < batches * a_batch; ++row) {
    int64_t from = row / a_batch * stride;
    for (int64_t i = 0; i < depth; ++i) {
      const size_t d = batch + static_cast<size_t>(i);
      NEREID_TRY(const int64_t place, wrap_index(values[row * depth + i], x.sizes[d], "indices", row * depth + i));
      from += place * steps[d];
    }
    copy_elements(ctx.outputs[0], row * slice, x, from, slice);
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kGatherNd = {.name = "gather_nd",
                                    .summary = "y[i...] = x[indices[i..., 0], indices[i..., 1], ...]",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attrs = kAttrs,
                                    .infer = infer,
                                    .evaluate = evaluate,
                                    .cost = cost_per_element<0>};

}  // namespace nereid::ops
