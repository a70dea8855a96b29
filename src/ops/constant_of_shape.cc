// SPDX-License-Identifier: Apache-2.0
// constant_of_shape and eye_like: tensors of one value, or with ones on one diagonal.
#include <algorithm>

#include "ops/elements.h"
#include "ops/move.h"
#include "ops/tensor.h"

namespace nereid::ops {
namespace {

enum : size_t { kSizes, kValue };
constexpr ArgSpec kInputs[] = {{.name = "shape"}, {.name = "value"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_index(kSizes));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kSizes, 1));
  NEREID_RETURN_IF_ERROR(is_movable(rule, kValue));
  if (rule.shape(kValue).is_static() && rule.shape(kValue).elements() != 1)
    return invalid_argument("{} should be one value", rule.describe(kValue));
  NEREID_TRY(Shape shape, shape_of_rank(rule.dim(kSizes, 0)));
  if (const auto sizes = known_integers(ctx, kSizes)) {
    for (size_t i = 0; i < sizes->size(); ++i)
      if ((*sizes)[i] < 0) return invalid_argument("shape[{}] is {}, which is no size", i, (*sizes)[i]);
    shape = Shape::of(*sizes);
  }
  return std::vector<TensorType>{{rule.type(kValue).dtype, std::move(shape)}};
}

DType dtype_of(const InferContext& ctx, size_t) {
  return ctx.inputs[kValue]->dtype;
}

Status evaluate(const EvalContext& ctx) {
  fill(ctx.outputs[0], ctx.inputs[kValue]);
  return Status::ok();
}

constexpr ArgSpec kEyeInputs[] = {{.name = "x"}};
constexpr AttrSpec kEyeAttrs[] = {{"dtype", AttrSpec::Kind::kString, "\"\"", "the result's element type; empty: x's"},
                                  {"k", AttrSpec::Kind::kInt, "0", "the diagonal of ones: y[i, i + k] = 1"}};

DType eye_dtype_of(const InferContext& ctx, size_t) {
  const std::string& name = ctx.attrs.text("dtype");
  return name.empty() ? ctx.inputs[0]->dtype : dtype_from_name(name).value_or(ctx.inputs[0]->dtype);
}

Result<std::vector<TensorType>> infer_eye(const InferContext& ctx) {
  ShapeRule rule(ctx, kEyeInputs);
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 2));
  const std::string& name = ctx.attrs.text("dtype");
  if (!name.empty() && !dtype_from_name(name)) return invalid_argument("there is no element type '{}'", name);
  const DType dtype = eye_dtype_of(ctx, 0);
  if (is_block_format(dtype) || dtype == DType::string)
    return unsupported("a diagonal of ones of type {} is not known", dtype_name(dtype));
  return std::vector<TensorType>{{dtype, rule.shape(0)}};
}

Status evaluate_eye(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  const int64_t k = ctx.attrs.integer("k");
  const int64_t rows = y.sizes[0];
  const int64_t columns = y.sizes[1];
  if (y.elements() == 0 || k <= -rows || k >= columns) return Status::ok();
  Tensor one = Tensor::zeros(y.dtype, {1}).value();
  const double value = 1;
  NEREID_RETURN_IF_ERROR(store<double>(one.view(), std::span(&value, 1)));
  for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < columns; ++i)
    copy_elements(y, i * columns + i + k, one.view(), 0, 1);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kConstantOfShape = {.name = "constant_of_shape",
                                           .summary = "a tensor of the sizes in shape, value everywhere",
                                           .inputs = kInputs,
                                           .outputs = kOutputs,
                                           .attrs = {},
                                           .infer = infer,
                                           .evaluate = evaluate,
                                           .cost = cost_per_element<0>,
                                           .dtype_of = dtype_of};

extern constexpr OpDef kEyeLike = {.name = "eye_like",
                                   .summary = "a matrix of x's sizes with ones on one diagonal, else zeros",
                                   .inputs = kEyeInputs,
                                   .outputs = kOutputs,
                                   .attrs = kEyeAttrs,
                                   .infer = infer_eye,
                                   .evaluate = evaluate_eye,
                                   .cost = cost_per_element<0>,
                                   .dtype_of = eye_dtype_of};

}  // namespace nereid::ops
