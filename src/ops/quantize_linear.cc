// SPDX-License-Identifier: Apache-2.0
// quantize_linear: real numbers as multiples of a scale, in an integer or small float type.
#include "ops/quantization.h"
#include "ops/round_float.h"

namespace nereid::ops {
namespace {

using Kind = AttrSpec::Kind;
enum : size_t { kX, kScale, kZero };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "y_scale"}, {.name = "y_zero_point", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", Kind::kInt, "1", "the dimension along which scales differ"},
    {"block_size", Kind::kInt, "0", "elements of that dimension that share a scale; 0: one each"},
    {"output_dtype", Kind::kString, "\"\"", "the result's element type; empty: that of y_zero_point, else u8"},
    {"precision", Kind::kString, "\"\"", "the float type of the division; empty: that of y_scale"},
    {"saturate", Kind::kBool, "true", "whether the f8 kinds take the largest number for what is larger"},
};

DType dtype_of(const InferContext& ctx, size_t) {
  if (ctx.inputs.size() > kZero && ctx.inputs[kZero] != nullptr) return ctx.inputs[kZero]->dtype;
  return dtype_from_name(ctx.attrs.text("output_dtype")).value_or(DType::u8);
}

bool is_real(DType d) {
  return is_float(d) && bits_of(d) >= 16;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kX, kScale}) {
    const DType d = rule.type(i).dtype;
    if (!is_real(d) && d != DType::i32 && !(i == kScale && d == DType::f8e8m0))
      return invalid_argument("{} should be f32, f64, f16, bf16 or i32", rule.describe(i));
  }
  for (const char* attr : {"output_dtype", "precision"}) {
    const std::string& name = ctx.attrs.text(attr);
    if (!name.empty() && !dtype_from_name(name))
      return invalid_argument("{}: there is no element type '{}'", attr, name);
  }
  const auto precision = dtype_from_name(ctx.attrs.text("precision"));
  if (precision && !is_real(*precision))
    return invalid_argument("precision is {} and should be f32, f64, f16 or bf16", dtype_name(*precision));
  const DType y = dtype_of(ctx, 0);
  const auto wanted = dtype_from_name(ctx.attrs.text("output_dtype"));
  if (wanted && *wanted != y)
    return invalid_argument("output_dtype is {}, but {} is not of that type", dtype_name(*wanted),
                            rule.describe(kZero));
  if (!is_quantized(y)) return invalid_argument("{} is no type that numbers are quantised to", dtype_name(y));
  NEREID_RETURN_IF_ERROR(
      check_scale(rule, kX, kScale, kZero, ctx.attrs.integer("axis"), ctx.attrs.integer("block_size")));
  return std::vector<TensorType>{{y, rule.shape(kX)}};
}

// Division rounds to this type.
DType precision_of(const EvalContext& ctx) {
  if (const auto given = dtype_from_name(ctx.attrs.text("precision"))) return *given;
  for (size_t i : {kScale, kX})
    if (is_real(ctx.inputs[i].dtype)) return ctx.inputs[i].dtype;
  return DType::f64;
}

Status evaluate(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  Elements<double> x = load<double>(ctx.inputs[kX]);
  const Elements<double> scale = load<double>(ctx.inputs[kScale]);
  const bool has_zero = ctx.inputs[kZero].data != nullptr;
  const Elements<double> zero = has_zero ? load<double>(ctx.inputs[kZero]) : Elements<double>(scale.size(), 0.0);
  const ScaleIndex index(ctx.inputs[kX].sizes, ctx.inputs[kScale].sizes, ctx.attrs.integer("axis"),
                         ctx.attrs.integer("block_size"));
  const DType precision = precision_of(ctx);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t at = index(i);
    const double q = rounded_to(precision, rounded_to(precision, x[i]) / rounded_to(precision, scale[at]));
    x[i] = is_integer(y.dtype) ? quantize(y.dtype, q, zero[at]) : q + zero[at];
  }
  if (is_integer(y.dtype)) return store<double>(y, x);
  Elements<float> odd(x.size());
  for (int64_t i = 0; i < odd.size(); ++i) odd[i] = round_to_odd(x[i]);
  store_rounded(y, odd, {.saturate = ctx.attrs.boolean("saturate")});
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kQuantizeLinear = {.name = "quantize_linear",
                                          .summary = "y = x / y_scale rounded, + y_zero_point, within the type's range",
                                          .inputs = kInputs,
                                          .outputs = kOutputs,
                                          .attrs = kAttrs,
                                          .infer = infer,
                                          .evaluate = evaluate,
                                          .cost = cost_per_element<3>,
                                          .dtype_of = dtype_of};

}  // namespace nereid::ops
