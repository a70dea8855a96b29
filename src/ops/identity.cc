// SPDX-License-Identifier: Apache-2.0
// identity: what goes in, be it a tensor of any type, a sequence, an optional or a map.
#include "ops/any_inputs.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  return std::vector<TensorType>{*ctx.inputs[0]};
}

Result<std::vector<Datum>> evaluate_any(const AnyContext& ctx) {
  return one_result(*ctx.inputs[0]);
}

}  // namespace

extern constexpr OpDef kIdentity = {.name = "identity",
                                    .summary = "y = x, whatever its type",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attrs = {},
                                    .infer = infer,
                                    .cost = cost_per_element<0>,
                                    .evaluate_any = evaluate_any,
                                    .infers_any = true};

}  // namespace nereid::ops
