// SPDX-License-Identifier: Apache-2.0
// matmul_integer: the product of two matrices of bytes less their zero points, summed up in i32.
#include "ops/quantized_matmul.h"

namespace nereid::ops {
namespace {

enum : size_t { kA, kB, kAZero, kBZero };
constexpr ArgSpec kInputs[] = {{.name = "a"},
                               {.name = "b"},
                               {.name = "a_zero_point", .optional = true},
                               {.name = "b_zero_point", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

DType dtype_of(const InferContext&, size_t) {
  return DType::i32;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kA, kB}) {
    NEREID_RETURN_IF_ERROR(is_byte(rule, i));
    const size_t zero = i + 2;
    if (!rule.has(zero)) continue;
    if (rule.type(zero).dtype != rule.type(i).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(i), rule.describe(zero));
    NEREID_RETURN_IF_ERROR(check_parameter(rule, zero, i, i == kA));
  }
  NEREID_TRY(Shape shape, product_shape(rule, kA, kB));
  return std::vector<TensorType>{{DType::i32, std::move(shape)}};
}

// In u32: what is too large for i32 wraps.
Status evaluate(const EvalContext& ctx) {
  const Elements<uint32_t> a = centred<uint32_t>(ctx.inputs[kA], ctx.inputs[kAZero], true);
  const Elements<uint32_t> b = centred<uint32_t>(ctx.inputs[kB], ctx.inputs[kBZero], false);
  return store<uint32_t>(ctx.outputs[0],
                         product(a, ctx.inputs[kA].sizes, b, ctx.inputs[kB].sizes, ctx.outputs[0].sizes));
}

}  // namespace

extern constexpr OpDef kMatmulInteger = {.name = "matmul_integer",
                                         .summary = "y = (a - a_zero_point) (b - b_zero_point), of matrices, in i32",
                                         .inputs = kInputs,
                                         .outputs = kOutputs,
                                         .attrs = {},
                                         .infer = infer,
                                         .evaluate = evaluate,
                                         .cost = product_cost,
                                         .dtype_of = dtype_of};

}  // namespace nereid::ops
