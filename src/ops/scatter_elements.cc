// SPDX-License-Identifier: Apache-2.0
// scatter_elements: each update goes to its own place but for one coordinate, the index.
#include "ops/indexed.h"
#include "ops/move.h"
#include "ops/scatter_updates.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kIndices, kUpdates };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "indices"}, {.name = "updates"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "0", "the coordinate that the index replaces; negative counts from the end"},
    kReductionAttr};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kIndices));
  NEREID_RETURN_IF_ERROR(check_reduction(ctx.attrs, rule.type(kX).dtype));
  NEREID_RETURN_IF_ERROR(check_element_indices(rule, kX, kIndices, ctx.attrs.integer("axis")));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kUpdates, rule.rank(kX)));
  if (rule.type(kUpdates).dtype != rule.type(kX).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(kX), rule.describe(kUpdates));
  for (int d = 0; d < rule.rank(kX); ++d) NEREID_RETURN_IF_ERROR(rule.agree(kIndices, d, kUpdates, d));
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  NEREID_TRY(const std::vector<int64_t> places,
             element_places(x.sizes, ctx.inputs[kIndices], ctx.attrs.integer("axis")));
  return scatter(ctx.outputs[0], x, ctx.inputs[kUpdates], places, 1, ctx.attrs.text("reduction"));
}

}  // namespace

extern constexpr OpDef kScatterElements = {.name = "scatter_elements",
                                           .summary =
                                               "y = x but y[indices[i, j, ...], j, ...] = updates[i, j, ...], "
                                               "likewise for another axis",
                                           .inputs = kInputs,
                                           .outputs = kOutputs,
                                           .attrs = kAttrs,
                                           .infer = infer,
                                           .evaluate = evaluate,
                                           .cost = cost_per_element<1>};

}  // namespace nereid::ops
