// SPDX-License-Identifier: Apache-2.0
// where: elements of the one or the other tensor, of any plain type.
#include "ops/elementwise.h"

namespace nereid::ops {
namespace {

enum : size_t { kCondition, kX, kY };
constexpr ArgSpec kInputs[] = {{.name = "condition"}, {.name = "x"}, {.name = "y"}};
constexpr ArgSpec kOutputs[] = {{.name = "z"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_truth(rule, kCondition));
  NEREID_RETURN_IF_ERROR(one_dtype(rule, kX, 3));
  if (is_block_format(rule.type(kX).dtype))
    return unsupported("elements of {} are not taken one by one", rule.describe(kX));
  NEREID_TRY(Shape shape, broadcast_inputs(rule, kCondition, 3));
  return std::vector<TensorType>{{rule.type(kX).dtype, std::move(shape)}};
}

DType dtype_of(const InferContext& ctx, size_t) {
  return ctx.inputs[kX]->dtype;
}

Status evaluate(const EvalContext& ctx) {
  const Elements<bool> condition = load<bool>(ctx.inputs[kCondition]);
  BroadcastWalk walk(ctx.outputs[0].sizes, ctx.inputs);
  for (int64_t i = 0, n = ctx.outputs[0].elements(); i < n; ++i, walk.next()) {
    const size_t from = condition[walk[kCondition]] ? kX : kY;
    copy_elements(ctx.outputs[0], i, ctx.inputs[from], walk[from], 1);
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kWhere = {.name = "where",
                                 .summary = "z = x where the condition holds, else y; broadcast as numpy does",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = {},
                                 .infer = infer,
                                 .evaluate = evaluate,
                                 .cost = cost_per_element<1>,
                                 .dtype_of = dtype_of};

}  // namespace nereid::ops
