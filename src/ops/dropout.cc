// SPDX-License-Identifier: Apache-2.0
// dropout: in training a share of the elements becomes 0 and the rest grows by as much (Srivastava et al. 2014);
// otherwise everything stays.
#include <random>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kRatio, kTraining };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "ratio", .optional = true}, {.name = "training_mode", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "mask"}};
constexpr AttrSpec kAttrs[] = {
    {"seed", AttrSpec::Kind::kInts, "[]", "where the random numbers start; absent: somewhere else each time"}};
constexpr double kDefaultRatio = 0.5;

DType dtype_of(const InferContext& ctx, size_t output) {
  return output == 1 || ctx.inputs[kX] == nullptr ? DType::boolean : ctx.inputs[kX]->dtype;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (!is_float(rule.type(kX).dtype)) return invalid_argument("{} should be floats", rule.describe(kX));
  for (size_t i : {kRatio, kTraining})
    if (rule.has(i) && rule.shape(i).elements().value_or(1) != 1)
      return invalid_argument("{} should be one value", rule.describe(i));
  if (rule.has(kRatio) && !is_float(rule.type(kRatio).dtype))
    return invalid_argument("{} should be a float", rule.describe(kRatio));
  if (rule.has(kTraining) && rule.type(kTraining).dtype != DType::boolean)
    return invalid_argument("{} should be bool", rule.describe(kTraining));
  return std::vector<TensorType>{rule.type(kX), {DType::boolean, rule.shape(kX)}};
}

Status evaluate(const EvalContext& ctx) {
  const bool training = ctx.inputs[kTraining].data != nullptr && load<bool>(ctx.inputs[kTraining])[0];
  const double ratio = ctx.inputs[kRatio].data != nullptr ? load<double>(ctx.inputs[kRatio])[0] : kDefaultRatio;
  if (training && !(ratio >= 0 && ratio < 1))
    return invalid_argument("the ratio is {} and should be at least 0 and less than 1", ratio);
  Elements<double> x = load<double>(ctx.inputs[kX]);
  Elements<bool> mask(x.size(), true);
  if (training && ratio > 0) {
    const std::vector<int64_t>& seed = ctx.attrs.integers("seed");
    std::mt19937 random(seed.empty() ? std::random_device()() : static_cast<uint32_t>(seed[0]));
    for (int64_t i = 0; i < x.size(); ++i) {
      // 53 bits of two draws, as numpy makes a double.
      const uint32_t high = static_cast<uint32_t>(random()) >> 5;
      const uint32_t low = static_cast<uint32_t>(random()) >> 6;
      mask[i] = (high * 67108864.0 + low) / 9007199254740992.0 >= ratio;
      x[i] = mask[i] ? x[i] / (1 - ratio) : 0;
    }
  }
  NEREID_RETURN_IF_ERROR(store<bool>(ctx.outputs[1], mask));
  return store<double>(ctx.outputs[0], x);
}

}  // namespace

extern constexpr OpDef kDropout = {.name = "dropout",
                                   .summary = "y = x * mask / (1 - ratio) in training, x otherwise",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kAttrs,
                                   .infer = infer,
                                   .evaluate = evaluate,
                                   .cost = cost_per_element<2>,
                                   .dtype_of = dtype_of,
                                   .is_random = true};

}  // namespace nereid::ops
