// SPDX-License-Identifier: Apache-2.0
// Types and epilogue of the quantised layers.
#include "ops/quantized_layer.h"

#include <cmath>

namespace nereid::ops {
namespace {

// A scale is one f32, its zero point one byte. `pair`: neither or both are there.
Status check_pair(const ShapeRule& rule, size_t scale, size_t zero, bool pair) {
  if (pair && rule.has(scale) != rule.has(zero))
    return invalid_argument("{} and {} belong together; one of them is absent", kQuantizedLayerInputs[scale].name,
                            kQuantizedLayerInputs[zero].name);
  if (rule.has(scale)) {
    if (rule.type(scale).dtype != DType::f32) return invalid_argument("{} should be f32", rule.describe(scale));
    NEREID_RETURN_IF_ERROR(check_single(rule, scale));
  }
  if (!rule.has(zero)) return Status::ok();
  NEREID_RETURN_IF_ERROR(is_byte(rule, zero));
  return check_single(rule, zero);
}

double number(const ConstTensorView& view, double absent) {
  return view.data != nullptr ? load<double>(view)[0] : absent;
}

}  // namespace

Result<TensorType> quantized_layer_type(const InferContext& ctx, const ShapeRule& rule, Shape shape) {
  NEREID_RETURN_IF_ERROR(find_epilogue_act(ctx.attrs.text("activation")));
  NEREID_RETURN_IF_ERROR(is_byte(rule, kQX));
  if (rule.type(kQW).dtype != DType::i8) return invalid_argument("{} should be i8", rule.describe(kQW));
  NEREID_RETURN_IF_ERROR(check_pair(rule, kQXScale, kQXZero, false));
  NEREID_RETURN_IF_ERROR(check_pair(rule, kQSumScale, kQSumZero, true));
  NEREID_RETURN_IF_ERROR(check_pair(rule, kQYScale, kQYZero, true));
  NEREID_RETURN_IF_ERROR(check_pair(rule, kQResidualScale, kQResidualZero, true));
  if (rule.has(kQMap)) {
    const TensorType& map = rule.type(kQMap);
    if (!rule.has(kQYZero) || rule.type(kQYZero).dtype != DType::u8)
      return invalid_argument("{} is a map of codes, but the result's codes are no u8", rule.describe(kQMap));
    if (map.dtype != DType::u8 || map.shape.rank() != 1 || !merge(map.shape[0], Dim(256)))
      return invalid_argument("{} should be u8[256]", rule.describe(kQMap));
  }
  if (rule.has(kQXZero) && rule.type(kQXZero).dtype != rule.type(kQX).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(kQX), rule.describe(kQXZero));
  const Dim columns = shape[shape.rank() - 1];
  for (size_t i : {size_t{kQWScale}, size_t{kQBias}}) {
    if (!rule.has(i)) continue;
    if (rule.type(i).dtype != DType::f32) return invalid_argument("{} should be f32", rule.describe(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 1));
    const bool one = i == kQWScale && rule.dim(i, 0) == Dim(1);
    if (!one && !merge(rule.dim(i, 0), columns))
      return invalid_argument("{} should have as many numbers as the result has columns", rule.describe(i));
  }
  if (rule.has(kQResidual)) {
    const TensorType& r = rule.type(kQResidual);
    if (rule.has(kQResidualScale)) {
      NEREID_RETURN_IF_ERROR(is_byte(rule, kQResidual));
      if (rule.type(kQResidualZero).dtype != r.dtype)
        return invalid_argument("{} and {} should have one element type", rule.describe(kQResidual),
                                rule.describe(kQResidualZero));
    } else if (r.dtype != DType::f32) {
      return invalid_argument("{} should be f32 or have a scale", rule.describe(kQResidual));
    }
    bool fits = r.shape.rank() == shape.rank();
    for (int d = 0; fits && d < shape.rank(); ++d) fits = merge(r.shape[d], shape[d]).has_value();
    if (!fits) return invalid_argument("{} should have the result's shape", rule.describe(kQResidual));
  }
  return TensorType{quantized_layer_dtype(ctx, 0), std::move(shape)};
}

DType quantized_layer_dtype(const InferContext& ctx, size_t) {
  return ctx.inputs.size() > kQYZero && ctx.inputs[kQYZero] != nullptr ? ctx.inputs[kQYZero]->dtype : DType::f32;
}

Elements<double> centred_codes(const ConstTensorView& codes, const ConstTensorView& zero) {
  Elements<double> out = load<double>(codes);
  const double centre = number(zero, 0);
  for (double& v : out) v -= centre;
  return out;
}

Status finish_quantized_layer(const EvalContext& ctx, Elements<double>& sums) {
  const auto& in = ctx.inputs;
  const TensorView& y = ctx.outputs[0];
  const int64_t columns = y.sizes.back();
  NEREID_TRY(const EpilogueAct* act, find_epilogue_act(ctx.attrs.text("activation")));
  const double alpha = ctx.attrs.real("alpha"), beta = ctx.attrs.real("beta");
  const double act_scale = ctx.attrs.real("scale"), act_shift = ctx.attrs.real("shift");
  const bool last = ctx.attrs.boolean("residual_last");
  const Elements<float> w_scale = load<float>(in[kQWScale]);
  const float x_scale = load<float>(in[kQXScale])[0];
  const auto optional = [&](size_t i) { return in[i].data != nullptr ? load<double>(in[i]) : Elements<double>(); };
  const Elements<double> bias = optional(kQBias), residual = optional(kQResidual);
  const double r_zero = number(in[kQResidualZero], 0), r_scale = number(in[kQResidualScale], 1);
  const double sum_scale = number(in[kQSumScale], 0), sum_zero = number(in[kQSumZero], 0);
  const bool stored_as_codes = in[kQYScale].data != nullptr;
  const double y_scale = number(in[kQYScale], 1), y_zero = number(in[kQYZero], 0);
  const Elements<double> map = optional(kQMap);
  for (int64_t i = 0; i < sums.size(); ++i) {
    const int64_t column = i % columns;
    const double factor = static_cast<double>(x_scale * w_scale[w_scale.size() == 1 ? 0 : column]);
    double v = sums[i] * factor;
    if (bias.size() > 0) v += bias[column];
    if (last) v = act_scale * act->function(v, alpha, beta) + act_shift;
    if (in[kQSumScale].data != nullptr)
      v = (quantize(in[kQSumZero].dtype, v / sum_scale, sum_zero) - sum_zero) * sum_scale;
    if (residual.size() > 0) v += (residual[i] - r_zero) * r_scale;
    if (!last) v = act_scale * act->function(v, alpha, beta) + act_shift;
    sums[i] = stored_as_codes ? quantize(y.dtype, v / y_scale, y_zero) : v;
    if (map.size() > 0) sums[i] = map[static_cast<int64_t>(sums[i])];
  }
  return store<double>(y, sums);
}

}  // namespace nereid::ops
