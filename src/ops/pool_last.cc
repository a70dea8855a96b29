// SPDX-License-Identifier: Apache-2.0
// pool_last and global_pool_last: pooling of channels-last images.
#include "ops/channels_last.h"
#include "ops/elements.h"
#include "ops/move.h"
#include "ops/pool.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kKind = {"kind", AttrSpec::Kind::kString, "", "max or average"};
constexpr AttrSpec kAttrs[] = {
    kWindowAutoPad,
    kPoolCeilMode,
    {"count_include_pad", AttrSpec::Kind::kBool, "false", "whether the mean counts padding as zeros"},
    kWindowDilations,
    kPoolKernelShape,
    kKind,
    kWindowPads,
    kWindowStrides};
constexpr AttrSpec kGlobalAttrs[] = {kKind};

Result<std::string_view> pick(const Attrs& attrs, std::string_view largest, std::string_view mean) {
  const std::string& kind = attrs.text("kind");
  if (kind == "max") return largest;
  if (kind == "average") return mean;
  return invalid_argument("kind is '{}'; it should be max or average", kind);
}

bool is_code(DType dtype) {
  return dtype == DType::u8 || dtype == DType::i8;
}
// The mean of 8-bit codes is f32: scale and zero point are somebody else's.
DType result_dtype(const Attrs& attrs, DType x) {
  return is_code(x) && attrs.text("kind") == "average" ? DType::f32 : x;
}
DType dtype_of(const InferContext& ctx, size_t) {
  return result_dtype(ctx.attrs, ctx.inputs[0]->dtype);
}

// The largest code, and the mean of codes, as the channels-first ops of f32 have them.
Result<std::vector<TensorType>> infer_pool(const InferContext& ctx, std::string_view largest, std::string_view mean) {
  NEREID_TRY(std::string_view op, pick(ctx.attrs, largest, mean));
  TensorType x = *ctx.inputs[0];
  const DType dtype = result_dtype(ctx.attrs, x.dtype);
  if (is_code(x.dtype)) x.dtype = DType::f32;
  const TensorType* types[] = {&x};
  NEREID_TRY(auto results, infer_as(op, {.inputs = types, .constants = ctx.constants, .attrs = ctx.attrs}, 1));
  results[0].dtype = dtype;
  return results;
}
Status run_pool(const EvalContext& ctx, std::string_view largest, std::string_view mean) {
  NEREID_TRY(std::string_view op, pick(ctx.attrs, largest, mean));
  const ConstTensorView& x = ctx.inputs[0];
  if (!is_code(x.dtype)) {
    NEREID_TRY(const Tensor y, run_as(op, ctx, 1));
    return copy_all(ctx.outputs[0], y.view());
  }
  NEREID_TRY(Tensor numbers, Tensor::zeros(DType::f32, x.sizes));
  NEREID_RETURN_IF_ERROR(store<double>(numbers.view(), load<double>(x)));
  const ConstTensorView views[] = {std::as_const(numbers).view()};
  NEREID_TRY(const Tensor y, run_as(op, {.inputs = views, .outputs = {}, .states = {}, .attrs = ctx.attrs}, 1));
  return store<double>(ctx.outputs[0], load<double>(y.view()));
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  return infer_pool(ctx, "max_pool", "average_pool");
}
Result<std::vector<TensorType>> infer_global(const InferContext& ctx) {
  return infer_pool(ctx, "global_max_pool", "global_average_pool");
}
Status evaluate(const EvalContext& ctx) {
  return run_pool(ctx, "max_pool", "average_pool");
}
Status evaluate_global(const EvalContext& ctx) {
  return run_pool(ctx, "global_max_pool", "global_average_pool");
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
    .cost = global_cost,
    .dtype_of = dtype_of};

extern constexpr OpDef kPoolLast = {.name = "pool_last",
                                    .summary = "y = the largest or the mean of each window of x [N, spatial..., C]",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attrs = kAttrs,
                                    .infer = infer,
                                    .evaluate = evaluate,
                                    .cost = pool_cost,
                                    .dtype_of = dtype_of};

}  // namespace nereid::ops
