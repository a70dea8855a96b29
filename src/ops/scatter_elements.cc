// SPDX-License-Identifier: Apache-2.0
// scatter_elements: each update goes to its own place but for one coordinate, the index.
#include "ops/elements.h"
#include "ops/move.h"
#include "ops/scatter_moves.h"

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
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, ctx.attrs.integer("axis")));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kIndices, rule.rank(kX)));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kUpdates, rule.rank(kX)));
  if (rule.type(kUpdates).dtype != rule.type(kX).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(kX), rule.describe(kUpdates));
  const int64_t axis = ctx.attrs.integer("axis");
  const int at = static_cast<int>(axis < 0 ? axis + rule.rank(kX) : axis);
  for (int d = 0; d < rule.rank(kX); ++d) {
    NEREID_RETURN_IF_ERROR(rule.agree(kIndices, d, kUpdates, d));
    const Dim& have = rule.dim(kX, d);
    const Dim& want = rule.dim(kIndices, d);
    if (d != at && have.is_static() && want.is_static() && want.size() > have.size())
      return invalid_argument("dimension {} of {} reaches past that of {}", d, rule.describe(kIndices),
                              rule.describe(kX));
  }
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const ConstTensorView& indices = ctx.inputs[kIndices];
  const Elements<int64_t> values = load<int64_t>(indices);
  const int64_t axis = ctx.attrs.integer("axis");
  const auto along = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  const std::vector<int64_t> steps = row_major_steps(x.sizes);
  std::vector<int64_t> index(x.sizes.size(), 0);
  std::vector<ScatterMove> moves;
  for (int64_t i = 0; i < values.size(); ++i) {
    NEREID_TRY(const int64_t place, wrap_index(values[i], x.sizes[along], "indices", i));
    int64_t to = place * steps[along];
    for (size_t d = 0; d < index.size(); ++d)
      if (d != along) to += index[d] * steps[d];
    moves.push_back({to, i});
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < indices.sizes[d]) break;
      index[d] = 0;
    }
  }
  return scatter(ctx.outputs[0], x, ctx.inputs[kUpdates], moves, 1, ctx.attrs.text("reduction"));
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
