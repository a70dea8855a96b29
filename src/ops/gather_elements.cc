// SPDX-License-Identifier: Apache-2.0
// gather_elements: for each place of indices, the element of x in that place but for one coordinate, the index.
#include "ops/elements.h"
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
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, ctx.attrs.integer("axis")));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kIndices, rule.rank(kX)));
  const int64_t axis = ctx.attrs.integer("axis");
  const int at = static_cast<int>(axis < 0 ? axis + rule.rank(kX) : axis);
  for (int d = 0; d < rule.rank(kX); ++d) {
    const Dim& have = rule.dim(kX, d);
    const Dim& want = rule.dim(kIndices, d);
    if (d != at && have.is_static() && want.is_static() && want.size() > have.size())
      return invalid_argument("dimension {} of {} reaches past that of {}", d, rule.describe(kIndices),
                              rule.describe(kX));
  }
  return std::vector<TensorType>{{rule.type(kX).dtype, rule.shape(kIndices)}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const ConstTensorView& indices = ctx.inputs[kIndices];
  const Elements<int64_t> values = load<int64_t>(indices);
  const int64_t axis = ctx.attrs.integer("axis");
  const auto along = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  const std::vector<int64_t> steps = row_major_steps(x.sizes);
  std::vector<int64_t> index(x.sizes.size(), 0);
  for (int64_t i = 0; i < values.size(); ++i) {
    NEREID_TRY(const int64_t place, wrap_index(values[i], x.sizes[along], "indices", i));
    int64_t from = place * steps[along];
    for (size_t d = 0; d < index.size(); ++d)
      if (d != along) from += index[d] * steps[d];
    copy_elements(ctx.outputs[0], i, x, from, 1);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < indices.sizes[d]) break;
      index[d] = 0;
    }
  }
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
