// SPDX-License-Identifier: Apache-2.0
// dynamic_quantize_linear: u8 with the scale and zero point that the smallest and largest element ask for.
#include <algorithm>
#include <cmath>

#include "ops/quantization.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "y_scale"}, {.name = "y_zero_point"}};

DType dtype_of(const InferContext&, size_t output) {
  return output == 1 ? DType::f32 : DType::u8;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (rule.type(0).dtype != DType::f32) return invalid_argument("{} should be f32", rule.describe(0));
  return std::vector<TensorType>{{DType::u8, rule.shape(0)}, {DType::f32, {}}, {DType::u8, {}}};
}

// All in f32. The range always holds 0, which has an exact form; a range of 0 alone has the scale 1.
Status evaluate(const EvalContext& ctx) {
  const std::span<const float> x = ctx.inputs[0].span<float>();
  float least = 0, most = 0;
  for (float v : x) {
    least = std::min(least, v);
    most = std::max(most, v);
  }
  const float scale = most == least ? 1.0f : (most - least) / 255.0f;
  const double zero = quantize(DType::u8, std::clamp(0.0f - least / scale, 0.0f, 255.0f), 0);
  auto* y = ctx.outputs[0].as<uint8_t>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<uint8_t>(quantize(DType::u8, x[i] / scale, zero));
  ctx.outputs[1].as<float>()[0] = scale;
  ctx.outputs[2].as<uint8_t>()[0] = static_cast<uint8_t>(zero);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kDynamicQuantizeLinear = {
    .name = "dynamic_quantize_linear",
    .summary = "y = x / y_scale rounded, + y_zero_point; y_scale = (max - min) / 255, y_zero_point = -min / y_scale",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = {},
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<5>,
    .dtype_of = dtype_of};

}  // namespace nereid::ops
