// SPDX-License-Identifier: Apache-2.0
// conv_integer: convolution of bytes less their zero points, summed up in i32.
#include "ops/quantized_conv.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kW, kXZero, kWZero };
constexpr ArgSpec kInputs[] = {{.name = "x"},
                               {.name = "w"},
                               {.name = "x_zero_point", .optional = true},
                               {.name = "w_zero_point", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

DType dtype_of(const InferContext&, size_t) {
  return DType::i32;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(Shape shape, quantized_conv_shape(ctx, rule, kX, kW, kXZero, kWZero));
  return std::vector<TensorType>{{DType::i32, std::move(shape)}};
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const Elements<uint32_t> sums, quantized_conv_sums(ctx, kX, kW, kXZero, kWZero));
  return store<uint32_t>(ctx.outputs[0], sums);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  cost.flops = conv_flops(*ctx.inputs[kW], outputs[0]);
  return cost;
}

}  // namespace

extern constexpr OpDef kConvInteger = {.name = "conv_integer",
                                       .summary = "y = x - x_zero_point convolved with w - w_zero_point, in i32",
                                       .inputs = kInputs,
                                       .outputs = kOutputs,
                                       .attrs = kConvAttrs,
                                       .infer = infer,
                                       .evaluate = evaluate,
                                       .cost = cost,
                                       .dtype_of = dtype_of};

}  // namespace nereid::ops
