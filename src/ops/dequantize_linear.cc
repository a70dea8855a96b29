// SPDX-License-Identifier: Apache-2.0
// dequantize_linear: the real numbers that quantised ones stand for.
#include "ops/quantization.h"

namespace nereid::ops {
namespace {

using Kind = AttrSpec::Kind;
enum : size_t { kX, kScale, kZero };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "x_scale"}, {.name = "x_zero_point", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", Kind::kInt, "1", "the dimension along which scales differ"},
    {"block_size", Kind::kInt, "0", "elements of that dimension that share a scale; 0: one each"},
    {"output_dtype", Kind::kString, "\"\"", "the result's element type; empty: that of x_scale"},
};

DType dtype_of(const InferContext& ctx, size_t) {
  const DType scale = ctx.inputs[kScale]->dtype;
  return dtype_from_name(ctx.attrs.text("output_dtype")).value_or(scale == DType::f8e8m0 ? DType::f32 : scale);
}

bool is_real(DType d) {
  return is_float(d) && bits_of(d) >= 16;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (!is_quantized(rule.type(kX).dtype) && rule.type(kX).dtype != DType::i32)
    return invalid_argument("{} is of no type that numbers are quantised to", rule.describe(kX));
  if (!is_real(rule.type(kScale).dtype) && rule.type(kScale).dtype != DType::f8e8m0)
    return invalid_argument("{} should be f32, f64, f16, bf16 or f8e8m0", rule.describe(kScale));
  if (rule.has(kZero) && rule.type(kZero).dtype != rule.type(kX).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(kX), rule.describe(kZero));
  const std::string& name = ctx.attrs.text("output_dtype");
  const auto dtype = dtype_from_name(name);
  if (!name.empty() && (!dtype || !is_real(*dtype)))
    return invalid_argument("output_dtype is '{}' and should be f32, f64, f16 or bf16", name);
  NEREID_RETURN_IF_ERROR(
      check_scale(rule, kX, kScale, kZero, ctx.attrs.integer("axis"), ctx.attrs.integer("block_size")));
  return std::vector<TensorType>{{dtype_of(ctx, 0), rule.shape(kX)}};
}

Status evaluate(const EvalContext& ctx) {
  Elements<double> x = load<double>(ctx.inputs[kX]);
  const Elements<double> scale = load<double>(ctx.inputs[kScale]);
  const bool has_zero = ctx.inputs[kZero].data != nullptr;
  const Elements<double> zero = has_zero ? load<double>(ctx.inputs[kZero]) : Elements<double>(scale.size(), 0.0);
  const ScaleIndex index(ctx.inputs[kX].sizes, ctx.inputs[kScale].sizes, ctx.attrs.integer("axis"),
                         ctx.attrs.integer("block_size"));
  // The difference is rounded to f32 (it matters for i32 only), the product to the result's type.
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t at = index(i);
    x[i] = rounded_to(ctx.outputs[0].dtype, static_cast<float>(x[i] - zero[at]) * scale[at]);
  }
  return store<double>(ctx.outputs[0], x);
}

}  // namespace

extern constexpr OpDef kDequantizeLinear = {.name = "dequantize_linear",
                                            .summary = "y = (x - x_zero_point) * x_scale",
                                            .inputs = kInputs,
                                            .outputs = kOutputs,
                                            .attrs = kAttrs,
                                            .infer = infer,
                                            .evaluate = evaluate,
                                            .cost = cost_per_element<2>,
                                            .dtype_of = dtype_of};

}  // namespace nereid::ops
