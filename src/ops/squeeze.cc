// SPDX-License-Identifier: Apache-2.0
// squeeze and unsqueeze: dimensions of size 1 taken away or put in.
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kAxes };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "axes"}};
constexpr ArgSpec kSqueezeInputs[] = {{.name = "x"}, {.name = "axes", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<Dim> axis_count(const ShapeRule& rule) {
  NEREID_RETURN_IF_ERROR(rule.is_index(kAxes));
  if (rule.rank(kAxes) == 0) return Dim(1);  // a bare number stands for a list of one
  NEREID_RETURN_IF_ERROR(rule.has_rank(kAxes, 1));
  return rule.dim(kAxes, 0);
}

Result<std::vector<TensorType>> infer_squeeze(const InferContext& ctx) {
  ShapeRule rule(ctx, kSqueezeInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  const DType dtype = rule.type(kX).dtype;
  std::vector<bool> gone(static_cast<size_t>(rule.rank(kX)), false);
  if (rule.has(kAxes)) {
    NEREID_TRY(const Dim count, axis_count(rule));
    const auto axes = known_integers(ctx, kAxes);
    if (!axes) {
      NEREID_TRY(Shape shape, shape_of_rank(count.is_static() ? Dim(rule.rank(kX) - count.size()) : count));
      return std::vector<TensorType>{{dtype, std::move(shape)}};
    }
    NEREID_TRY(const auto places, wrap_axes(*axes, rule.rank(kX), "axes"));
    for (size_t d : places) {
      const Dim& dim = rule.dim(kX, static_cast<int>(d));
      if (dim.is_static() && dim.size() != 1)
        return invalid_argument("dimension {} of {} should be 1 to be taken away", d, rule.describe(kX));
      gone[d] = true;
    }
  } else {
    for (size_t d = 0; d < gone.size(); ++d) {
      const Dim& dim = rule.dim(kX, static_cast<int>(d));
      if (!dim.is_static()) return std::vector<TensorType>{{dtype, Shape::unranked()}};
      gone[d] = dim.size() == 1;
    }
  }
  std::vector<Dim> dims;
  for (size_t d = 0; d < gone.size(); ++d)
    if (!gone[d]) dims.push_back(rule.dim(kX, static_cast<int>(d)));
  return std::vector<TensorType>{{dtype, Shape(std::move(dims))}};
}

Result<std::vector<TensorType>> infer_unsqueeze(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  const DType dtype = rule.type(kX).dtype;
  NEREID_TRY(const Dim count, axis_count(rule));
  if (!count.is_static()) return std::vector<TensorType>{{dtype, Shape::unranked()}};
  NEREID_RETURN_IF_ERROR(is_rank(count.size()));
  NEREID_TRY(Shape shape, shape_of_rank(Dim(rule.rank(kX) + count.size())));
  const auto axes = known_integers(ctx, kAxes);
  if (!axes) return std::vector<TensorType>{{dtype, std::move(shape)}};
  NEREID_TRY(const auto places, wrap_axes(*axes, shape.rank(), "axes"));
  std::vector<bool> fresh(static_cast<size_t>(shape.rank()), false);
  for (size_t d : places) fresh[d] = true;
  int from = 0;
  for (int d = 0; d < shape.rank(); ++d) shape[d] = fresh[static_cast<size_t>(d)] ? Dim(1) : rule.dim(kX, from++);
  return std::vector<TensorType>{{dtype, std::move(shape)}};
}

Status evaluate(const EvalContext& ctx) {
  return copy_all(ctx.outputs[0], ctx.inputs[kX]);
}

}  // namespace

extern constexpr OpDef kSqueeze = {
    .name = "squeeze",
    .summary = "x without the dimensions in axes, which have size 1; without axes: all such",
    .inputs = kSqueezeInputs,
    .outputs = kOutputs,
    .attrs = {},
    .infer = infer_squeeze,
    .evaluate = evaluate,
    .cost = cost_per_element<0>};

extern constexpr OpDef kUnsqueeze = {.name = "unsqueeze",
                                     .summary = "x with dimensions of size 1 put in where axes say the result has them",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attrs = {},
                                     .infer = infer_unsqueeze,
                                     .evaluate = evaluate,
                                     .cost = cost_per_element<0>};

}  // namespace nereid::ops
