// SPDX-License-Identifier: Apache-2.0
// gather and array_feature_extractor: slices of a tensor along one dimension, in the order that indices ask for.
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kIndices };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "indices"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "0", "the dimension that indices count along; negative counts from the end"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kIndices));
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, ctx.attrs.integer("axis")));
  NEREID_RETURN_IF_ERROR(is_rank(rule.rank(kX) + rule.rank(kIndices)));
  const int64_t axis = ctx.attrs.integer("axis");
  const int at = static_cast<int>(axis < 0 ? axis + rule.rank(kX) : axis);
  std::vector<Dim> dims;
  for (int d = 0; d < at; ++d) dims.push_back(rule.dim(kX, d));
  for (int d = 0; d < rule.rank(kIndices); ++d) dims.push_back(rule.dim(kIndices, d));
  for (int d = at + 1; d < rule.rank(kX); ++d) dims.push_back(rule.dim(kX, d));
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Status gather(const EvalContext& ctx, int64_t axis) {
  const ConstTensorView& x = ctx.inputs[kX];
  const AxisSteps whole = axis_steps(x.sizes, axis);
  Elements<int64_t> at = load<int64_t>(ctx.inputs[kIndices]);
  for (int64_t j = 0; j < at.size(); ++j) {
    NEREID_TRY(const int64_t place, wrap_index(at[j], whole.size, "indices", j));
    at[j] = place;
  }
  if (ctx.outputs[0].elements() == 0) return Status::ok();
  int64_t to = 0;
  for (int64_t outer = 0; outer < whole.outer; ++outer)
    for (int64_t place : at) {
      copy_elements(ctx.outputs[0], to, x, (outer * whole.size + place) * whole.inner, whole.inner);
      to += whole.inner;
    }
  return Status::ok();
}

Status evaluate(const EvalContext& ctx) {
  return gather(ctx, ctx.attrs.integer("axis"));
}

// Only what is asked for is read.
Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  return {.flops = 0,
          .bytes_read = bytes_of(outputs[0]) + bytes_of(*ctx.inputs[kIndices]),
          .bytes_written = bytes_of(outputs[0])};
}

Result<std::vector<TensorType>> infer_features(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kIndices));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kIndices, 1));
  for (int d = 0; d + 1 < rule.rank(kIndices); ++d)
    NEREID_RETURN_IF_ERROR(rule.has_size(kIndices, d, 1, "indices are one list"));
  std::vector<Dim> dims = rule.shape(kX).dims();
  if (dims.size() == 1) dims.insert(dims.begin(), Dim(1));
  dims.back() = rule.dim(kIndices, -1);
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Status evaluate_features(const EvalContext& ctx) {
  return gather(ctx, -1);
}

}  // namespace

extern constexpr OpDef kGather = {.name = "gather",
                                  .summary = "y[..., i, ...] = x[..., indices[i], ...] along the axis",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .evaluate = evaluate,
                                  .cost = cost};

extern constexpr OpDef kArrayFeatureExtractor = {
    .name = "array_feature_extractor",
    .summary = "y[..., i] = x[..., indices[i]]; a vector gives a matrix of one row",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = {},
    .infer = infer_features,
    .evaluate = evaluate_features,
    .cost = cost};

}  // namespace nereid::ops
