// SPDX-License-Identifier: Apache-2.0
// What dense_q and conv_last_q share: a layer whose x is 8-bit codes and whose weights are int8.
//
//   s = (sum of (x - x_zero) w) * x_scale * w_scale[column]        the sum is exact
//   y = scale act(m(s + bias) + r) + shift          residual_last = false
//   y = m(scale act(s + bias) + shift) + r          residual_last = true
//
// m rounds to the numbers that codes of sum_scale and sum_zero stand for, where these are given: a network that
// quantises a layer's result before it adds the residual. r is the residual, or (residual - residual_zero) *
// residual_scale. Without y_scale the result is f32; with it, round(y / y_scale) + y_zero in the type of y_zero.
// Where that is u8, each code may be looked up in `map`, u8[256]: what follows the layer code by code, quantising again
// included.
#pragma once

#include "ops/epilogue.h"
#include "ops/quantization.h"

namespace nereid::ops {

inline constexpr AttrSpec kQuantizedScale = {"scale", AttrSpec::Kind::kFloat, "1.0",
                                             "what the activation gives is multiplied by it"};
inline constexpr AttrSpec kQuantizedShift = {"shift", AttrSpec::Kind::kFloat, "0.0", "and this is added then"};

enum QuantizedLayerInput : size_t {
  kQX,
  kQW,
  kQXScale,
  kQWScale,
  kQXZero,
  kQBias,
  kQResidual,
  kQResidualScale,
  kQResidualZero,
  kQSumScale,
  kQSumZero,
  kQYScale,
  kQYZero,
  kQMap,
  kQInputs
};

inline constexpr ArgSpec kQuantizedLayerInputs[kQInputs] = {{.name = "x"},
                                                            {.name = "w"},
                                                            {.name = "x_scale"},
                                                            {.name = "w_scale"},
                                                            {.name = "x_zero", .optional = true},
                                                            {.name = "bias", .optional = true},
                                                            {.name = "residual", .optional = true},
                                                            {.name = "residual_scale", .optional = true},
                                                            {.name = "residual_zero", .optional = true},
                                                            {.name = "sum_scale", .optional = true},
                                                            {.name = "sum_zero", .optional = true},
                                                            {.name = "y_scale", .optional = true},
                                                            {.name = "y_zero", .optional = true},
                                                            {.name = "map", .optional = true}};

// The result's type, whose shape is `shape` (columns last), once all that is not x, w and attributes of windows fits.
Result<TensorType> quantized_layer_type(const InferContext& ctx, const ShapeRule& rule, Shape shape);
DType quantized_layer_dtype(const InferContext& ctx, size_t output);

// Codes minus their zero point as f64; `zero` may be an absent view.
Elements<double> centred_codes(const ConstTensorView& codes, const ConstTensorView& zero);
// From exact sums to the stored result.
Status finish_quantized_layer(const EvalContext& ctx, Elements<double>& sums);

}  // namespace nereid::ops
