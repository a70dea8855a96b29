// SPDX-License-Identifier: Apache-2.0
// pool_last and global_pool_last: pooling of channels-last images.
#include "ops/channels_last.h"
#include "ops/move.h"
#include "ops/pool.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kKind = {"kind", AttrSpec::Kind::kString, "", "max or average"};
constexpr AttrSpec kAttrs[] = {
    kPoolAutoPad,
    kPoolCeilMode,
    {"count_include_pad", AttrSpec::Kind::kBool, "false", "whether the mean counts padding as zeros"},
    kPoolDilations,
    kPoolKernelShape,
    kKind,
    kPoolPads,
    kPoolStrides};
constexpr AttrSpec kGlobalAttrs[] = {kKind};

Result<std::string_view> pick(const Attrs& attrs, std::string_view largest, std::string_view mean) {
  const std::string& kind = attrs.text("kind");
  if (kind == "max") return largest;
  if (kind == "average") return mean;
  return invalid_argument("kind is '{}'; it should be max or average", kind);
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  NEREID_TRY(std::string_view op, pick(ctx.attrs, "max_pool", "average_pool"));
  return infer_as(op, ctx, 1);
}
Result<std::vector<TensorType>> infer_global(const InferContext& ctx) {
  NEREID_TRY(std::string_view op, pick(ctx.attrs, "global_max_pool", "global_average_pool"));
  return infer_as(op, ctx, 1);
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(std::string_view op, pick(ctx.attrs, "max_pool", "average_pool"));
  NEREID_TRY(const Tensor y, run_as(op, ctx, 1));
  return copy_all(ctx.outputs[0], y.view());
}
Status evaluate_global(const EvalContext& ctx) {
  NEREID_TRY(std::string_view op, pick(ctx.attrs, "global_max_pool", "global_average_pool"));
  NEREID_TRY(const Tensor y, run_as(op, ctx, 1));
  return copy_all(ctx.outputs[0], y.view());
}

Cost global_cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  c.flops = elements_of(*ctx.inputs[0]);
  return c;
}

}  // namespace

extern constexpr OpDef kGlobalPoolLast = {
    .name = "global_pool_last",
    .summary = "y [N, 1..., C] = the largest or the mean of all spatial positions of x [N, spatial..., C]",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kGlobalAttrs,
    .infer = infer_global,
    .evaluate = evaluate_global,
    .cost = global_cost};

extern constexpr OpDef kPoolLast = {.name = "pool_last",
                                    .summary = "y = the largest or the mean of each window of x [N, spatial..., C]",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attrs = kAttrs,
                                    .infer = infer,
                                    .evaluate = evaluate,
                                    .cost = pool_cost};

}  // namespace nereid::ops
