// SPDX-License-Identifier: Apache-2.0
// bit_cast: the same bits read as another element type of the same width.
#include <algorithm>

#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"dtype", AttrSpec::Kind::kString, "", "the result's element type"}};

bool has_bits(DType d) {
  return d != DType::string && !is_block_format(d);
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const std::string& name = ctx.attrs.text("dtype");
  const auto dtype = dtype_from_name(name);
  if (!dtype) return invalid_argument("there is no element type '{}'", name);
  if (!has_bits(*dtype) || !has_bits(rule.type(0).dtype))
    return unsupported("the bits of {} cannot be read as {}", rule.describe(0), name);
  if (bits_of(*dtype) != bits_of(rule.type(0).dtype))
    return invalid_argument("an element of {} has {} bits, one of {} has {}", rule.describe(0),
                            bits_of(rule.type(0).dtype), name, bits_of(*dtype));
  return std::vector<TensorType>{{*dtype, rule.shape(0)}};
}

DType dtype_of(const InferContext& ctx, size_t) {
  return dtype_from_name(ctx.attrs.text("dtype")).value_or(DType::f32);
}

Status evaluate(const EvalContext& ctx) {
  std::copy_n(ctx.inputs[0].as<std::byte>(), ctx.inputs[0].bytes(), ctx.outputs[0].as<std::byte>());
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kBitCast = {.name = "bit_cast",
                                   .summary = "the same bits as another element type",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kAttrs,
                                   .infer = infer,
                                   .evaluate = evaluate,
                                   .cost = cost_per_element<0>,
                                   .dtype_of = dtype_of};

}  // namespace nereid::ops
