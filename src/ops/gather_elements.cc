// SPDX-License-Identifier: Apache-2.0
// gather_elements: for each place of indices, the element of x in that place but for one coordinate, the index.
#include "ops/elements.h"
#include "ops/indexed.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kIndices };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "indices"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "0", "the coordinate that the index replaces; negative counts from the end"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kIndices));
  NEREID_RETURN_IF_ERROR(check_element_indices(rule, kX, kIndices, ctx.attrs.integer("axis")));
  return std::vector<TensorType>{{rule.type(kX).dtype, rule.shape(kIndices)}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  NEREID_TRY(const std::vector<int64_t> places,
             element_places(x.sizes, ctx.inputs[kIndices], ctx.attrs.integer("axis")));
  for (size_t i = 0; i < places.size(); ++i) copy_elements(ctx.outputs[0], static_cast<int64_t>(i), x, places[i], 1);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kGatherElements = {.name = "gather_elements",
                                          .summary =
                                              "y[i, j, ...] = x[indices[i, j, ...], j, ...], likewise for "
                                              "another axis",
                                          .inputs = kInputs,
                                          .outputs = kOutputs,
                                          .attrs = kAttrs,
                                          .infer = infer,
                                          .evaluate = evaluate,
                                          .cost = cost_per_element<0>};

}  // namespace nereid::ops
