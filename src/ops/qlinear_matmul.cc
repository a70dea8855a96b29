// SPDX-License-Identifier: Apache-2.0
// qlinear_matmul: the product of two quantised matrices, quantised again.
#include "ops/quantized_matmul.h"
#include "ops/round_float.h"

namespace nereid::ops {
namespace {

enum : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };
constexpr ArgSpec kInputs[] = {{.name = "a"},       {.name = "a_scale"},     {.name = "a_zero_point"},
                               {.name = "b"},       {.name = "b_scale"},     {.name = "b_zero_point"},
                               {.name = "y_scale"}, {.name = "y_zero_point"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

DType dtype_of(const InferContext& ctx, size_t) {
  return ctx.inputs[kYZero]->dtype;
}

Status is_byte_or_f8(const ShapeRule& rule, size_t i) {
  if (is_f8(rule.type(i).dtype) && rule.type(i).dtype != DType::f8e8m0) return Status::ok();
  if (is_byte(rule, i).is_ok()) return Status::ok();
  return invalid_argument("{} should be i8, u8 or an f8 kind", rule.describe(i));
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kA, kB}) {
    NEREID_RETURN_IF_ERROR(is_byte_or_f8(rule, i));
    if (rule.type(i + 2).dtype != rule.type(i).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(i), rule.describe(i + 2));
    for (size_t parameter : {i + 1, i + 2}) NEREID_RETURN_IF_ERROR(check_parameter(rule, parameter, i, i == kA));
  }
  if (is_f8(rule.type(kA).dtype) != is_f8(rule.type(kB).dtype))
    return unsupported("products of {} and {} are not known", rule.describe(kA), rule.describe(kB));
  NEREID_RETURN_IF_ERROR(is_byte_or_f8(rule, kYZero));
  for (size_t i : {kAScale, kBScale, kYScale}) NEREID_RETURN_IF_ERROR(rule.is_activation(i));
  for (size_t i : {kYScale, kYZero}) NEREID_RETURN_IF_ERROR(check_parameter(rule, i, kA, true));
  NEREID_TRY(Shape shape, product_shape(rule, kA, kB));
  return std::vector<TensorType>{{rule.type(kYZero).dtype, std::move(shape)}};
}

Status evaluate(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  const auto multiply = [&]<typename T>() {
    const Elements<T> a = centred<T>(ctx.inputs[kA], ctx.inputs[kAZero], true);
    const Elements<T> b = centred<T>(ctx.inputs[kB], ctx.inputs[kBZero], false);
    return product(a, ctx.inputs[kA].sizes, b, ctx.inputs[kB].sizes, y.sizes);
  };
  Elements<float> sums(y.elements());
  if (is_integer(ctx.inputs[kA].dtype)) {
    const Elements<uint32_t> whole = multiply.template operator()<uint32_t>();
    for (int64_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(static_cast<int32_t>(whole[i]));
  } else {
    sums = multiply.template operator()<float>();
  }
  const Elements<float> a_scale = load<float>(ctx.inputs[kAScale]), b_scale = load<float>(ctx.inputs[kBScale]),
                        y_scale = load<float>(ctx.inputs[kYScale]), y_zero = load<float>(ctx.inputs[kYZero]);
  std::vector<ConstTensorView> seen;
  for (size_t i : {kAScale, kBScale, kYScale, kYZero}) {
    seen.push_back(ctx.inputs[i]);
    seen.back().sizes = parameter_sizes(ctx.inputs[i], i != kBScale);
  }
  const DType real = ctx.inputs[kAScale].dtype;
  BroadcastWalk walk(matrix_sizes(y.sizes, ctx.inputs[kA].sizes.size(), ctx.inputs[kB].sizes.size()), seen);
  for (int64_t i = 0; i < sums.size(); ++i, walk.next()) {
    const double both = rounded_to(real, static_cast<double>(a_scale[walk[0]]) * b_scale[walk[1]]);
    const auto factor = static_cast<float>(rounded_to(real, both / y_scale[walk[2]]));
    sums[i] = is_integer(y.dtype) ? static_cast<float>(quantize(y.dtype, sums[i] * factor, y_zero[walk[3]]))
                                  : sums[i] * factor + y_zero[walk[3]];
  }
  store_rounded(y, sums, {});
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kQlinearMatmul = {
    .name = "qlinear_matmul",
    .summary = "y = (a - a_zero_point) (b - b_zero_point) * a_scale * b_scale / y_scale rounded, + y_zero_point",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = {},
    .infer = infer,
    .evaluate = evaluate,
    .cost = product_cost,
    .dtype_of = dtype_of};

}  // namespace nereid::ops
