// SPDX-License-Identifier: Apache-2.0
// gather_nd: the slices of a tensor whose leading coordinates are the rows of indices.
#include "ops/elements.h"
#include "ops/indexed.h"
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
  if (ctx.outputs[0].elements() == 0) return Status::ok();
  const int64_t batch = ctx.attrs.integer("batch_dims"), slice = slice_size(x.sizes, indices, batch);
  NEREID_TRY(const std::vector<int64_t> places, slice_places(x.sizes, indices, batch));
  for (size_t row = 0; row < places.size(); ++row)
    copy_elements(ctx.outputs[0], static_cast<int64_t>(row) * slice, x, places[row], slice);
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
