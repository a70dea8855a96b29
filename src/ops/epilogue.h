// SPDX-License-Identifier: Apache-2.0
// What a product or convolution does to its sums before it stores them: bias, residual and activation, which the ops
// that lowering makes (dense, conv_last, conv_transpose_last) share.
//
//   y = scale act(sum + bias[column] + residual[row, column]) + shift          residual_last = false (ResNet)
//   y = scale act(sum + bias[column]) + shift + residual[row, column]          residual_last = true (transformers,
//   YOLO)
#pragma once

#include <string_view>

#include "base/status.h"
#include "ops/elements.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {

// An activation with up to two parameters.
struct EpilogueAct {
  std::string_view name;
  double (*function)(double x, double alpha, double beta);
};

// none, relu, clip (min(beta, max(alpha, x))), leaky_relu (alpha), sigmoid, tanh, silu (x sigmoid(alpha x)), gelu,
// gelu_tanh, hard_sigmoid (min(1, max(0, alpha x + beta))), hard_swish (x times that), elu (alpha), mish.
std::span<const EpilogueAct> epilogue_acts();
// kInvalidArgument, naming the known ones.
Result<const EpilogueAct*> find_epilogue_act(std::string_view name);

inline constexpr AttrSpec kEpilogueActivation = {
    "activation", AttrSpec::Kind::kString, "none",
    "none, relu, clip, leaky_relu, sigmoid, tanh, silu, gelu, gelu_tanh, hard_sigmoid, hard_swish, elu, mish"};
inline constexpr AttrSpec kEpilogueAlpha = {"alpha", AttrSpec::Kind::kFloat, "1.0",
                                            "the activation's first parameter: of clip the least value"};
inline constexpr AttrSpec kEpilogueBeta = {"beta", AttrSpec::Kind::kFloat, "0.0",
                                           "its second parameter: of clip the largest value"};
inline constexpr AttrSpec kEpiloguePrecision = {
    "precision", AttrSpec::Kind::kString, "\"\"",
    "what is multiplied in: f32, or bf16 with sums in f32; empty: what the network says"};
inline constexpr AttrSpec kEpilogueResidualLast = {
    "residual_last", AttrSpec::Kind::kBool, "false",
    "the residual is added to what the activation gives; else to what it takes"};
inline constexpr AttrSpec kEpilogueScale = {"scale", AttrSpec::Kind::kFloat, "1.0",
                                            "what the activation gives is multiplied by it"};
inline constexpr AttrSpec kEpilogueShift = {"shift", AttrSpec::Kind::kFloat, "0.0", "and this is added then"};

// Checks the activation, and input `residual`, where there is one, against the result's type.
Status check_epilogue(const InferContext& ctx, const ShapeRule& rule, size_t residual, const TensorType& result);

// sums [rows, columns] in place. `bias` and `residual` may be absent views.
Status apply_epilogue(const Attrs& attrs, const ConstTensorView& bias, const ConstTensorView& residual,
                      Elements<double>& sums, int64_t columns);

}  // namespace nereid::ops
