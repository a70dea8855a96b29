// SPDX-License-Identifier: Apache-2.0
// scatter_nd: slices of updates go to the places whose leading coordinates are the rows of indices.
#include "ops/indexed.h"
#include "ops/move.h"
#include "ops/scatter_updates.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kIndices, kUpdates };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "indices"}, {.name = "updates"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {kReductionAttr};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kIndices));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kIndices, 1));
  NEREID_RETURN_IF_ERROR(check_reduction(ctx.attrs, rule.type(kX).dtype));
  if (rule.type(kUpdates).dtype != rule.type(kX).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(kX), rule.describe(kUpdates));
  const Dim& depth = rule.dim(kIndices, -1);
  if (!depth.is_static()) return std::vector<TensorType>{rule.type(kX)};
  if (depth.size() > rule.rank(kX))
    return invalid_argument("{} has rows of {} coordinates, but {} has {} dimensions", rule.describe(kIndices),
                            depth.size(), rule.describe(kX), rule.rank(kX));
  const int rows = rule.rank(kIndices) - 1;
  const int slices = static_cast<int>(depth.size());
  NEREID_RETURN_IF_ERROR(rule.has_rank(kUpdates, rows + rule.rank(kX) - slices));
  for (int d = 0; d < rows; ++d) NEREID_RETURN_IF_ERROR(rule.agree(kIndices, d, kUpdates, d));
  for (int d = slices; d < rule.rank(kX); ++d) NEREID_RETURN_IF_ERROR(rule.agree(kX, d, kUpdates, rows + d - slices));
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const ConstTensorView& indices = ctx.inputs[kIndices];
  std::vector<int64_t> places;
  if (ctx.inputs[kUpdates].elements() > 0) {
    NEREID_TRY(places, slice_places(x.sizes, indices, 0));
  }
  return scatter(ctx.outputs[0], x, ctx.inputs[kUpdates], places, slice_size(x.sizes, indices, 0),
                 ctx.attrs.text("reduction"));
}

}  // namespace

extern constexpr OpDef kScatterNd = {.name = "scatter_nd",
                                     .summary = "y = x but y[indices[i..., 0], indices[i..., 1], ...] = updates[i...]",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attrs = kAttrs,
                                     .infer = infer,
                                     .evaluate = evaluate,
                                     .cost = cost_per_element<1>};

}  // namespace nereid::ops
