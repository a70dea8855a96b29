// SPDX-License-Identifier: Apache-2.0
// one_hot: a new dimension along which one place, the index, has one value and the others another.
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kIndices, kDepth, kValues };
constexpr ArgSpec kInputs[] = {{.name = "indices"}, {.name = "depth"}, {.name = "values"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "-1", "the new dimension's place in the result; negative counts from the end"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kIndices, kDepth})
    if (!is_integer(rule.type(i).dtype) && !is_float(rule.type(i).dtype))
      return unsupported("{} should be a float or integer type", rule.describe(i));
  NEREID_RETURN_IF_ERROR(is_movable(rule, kValues));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kValues, 1));
  NEREID_RETURN_IF_ERROR(rule.has_size(kValues, 0, 2, "the value elsewhere and the value at the index"));
  if (rule.shape(kDepth).is_static() && rule.shape(kDepth).elements() != 1)
    return invalid_argument("{} should be one number", rule.describe(kDepth));
  const int rank = rule.rank(kIndices) + 1;
  const int64_t axis = ctx.attrs.integer("axis");
  if (axis < -rank || axis >= rank) return invalid_argument("axis is {}, but the result has {} dimensions", axis, rank);
  Dim depth = Dim::unknown();
  if (const ConstTensorView* known = ctx.constants[kDepth]; known != nullptr && known->elements() == 1) {
    depth = Dim(load<int64_t>(*known)[0]);
    if (depth.size() < 0) return invalid_argument("depth is {} and should not be negative", depth.size());
  }
  std::vector<Dim> dims = rule.shape(kIndices).dims();
  dims.insert(dims.begin() + (axis < 0 ? axis + rank : axis), depth);
  return std::vector<TensorType>{{rule.type(kValues).dtype, Shape(std::move(dims))}};
}

DType dtype_of(const InferContext& ctx, size_t) {
  return ctx.inputs[kValues]->dtype;
}

Status evaluate(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  fill(y, ctx.inputs[kValues], 0);
  const AxisSteps steps = axis_steps(y.sizes, ctx.attrs.integer("axis"));
  const Elements<int64_t> indices = load<int64_t>(ctx.inputs[kIndices]);
  for (int64_t i = 0; i < indices.size(); ++i) {
    const int64_t at = indices[i] < 0 ? indices[i] + steps.size : indices[i];
    if (at < 0 || at >= steps.size) continue;
    copy_elements(y, (i / steps.inner * steps.size + at) * steps.inner + i % steps.inner, ctx.inputs[kValues], 1, 1);
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kOneHot = {
    .name = "one_hot",
    .summary =
        "y[..., i, ...] = values[i == indices[...] ? 1 : 0] for i < depth; -1 is the last, one outside is nowhere",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<0>,
    .dtype_of = dtype_of};

}  // namespace nereid::ops
