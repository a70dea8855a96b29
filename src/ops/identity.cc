// SPDX-License-Identifier: Apache-2.0
// identity: what goes in, be it a tensor of any type, a sequence, an optional or a map.
#include <algorithm>

#include "ops/datum.h"
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  return std::vector<TensorType>{*ctx.inputs[0]};
}

// Of plain tensors, also in block formats.
Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  if (x.dtype == DType::string) {
    copy_elements(ctx.outputs[0], 0, x, 0, x.elements());
  } else {
    std::copy_n(x.as<std::byte>(), x.bytes(), ctx.outputs[0].as<std::byte>());
  }
  return Status::ok();
}

Result<std::vector<Datum>> evaluate_any(const AnyContext& ctx) {
  return std::vector<Datum>{*ctx.inputs[0]};
}

}  // namespace

extern constexpr OpDef kIdentity = {.name = "identity",
                                    .summary = "y = x, whatever its type",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attrs = {},
                                    .infer = infer,
                                    .evaluate = evaluate,
                                    .cost = cost_per_element<0>,
                                    .evaluate_any = evaluate_any,
                                    .infers_any = true};

}  // namespace nereid::ops
