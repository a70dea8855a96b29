// SPDX-License-Identifier: Apache-2.0
// shape and size: what a tensor's sizes are, and how many elements it has. They do not read the elements.
#include <algorithm>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"start", AttrSpec::Kind::kInt, "0", "the first dimension that is told; negative counts from the end"},
    {"end", AttrSpec::Kind::kInt, "9223372036854775807", "the dimension before which to stop; past the last: all"}};

// Which dimensions are told: [first, second).
std::pair<int64_t, int64_t> told(const Attrs& attrs, int rank) {
  const auto clamp = [&](int64_t d) { return std::clamp<int64_t>(d < 0 ? d + rank : d, 0, rank); };
  const int64_t first = clamp(attrs.integer("start"));
  return {first, std::max(first, clamp(attrs.integer("end")))};
}

Status is_tensor(const InferContext& ctx) {
  if (ctx.inputs[0]->is_tensor()) return Status::ok();
  return invalid_argument("x {} should be a tensor", ctx.inputs[0]->to_string());
}

Result<std::vector<TensorType>> infer_shape(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(is_tensor(ctx));
  if (!ctx.inputs[0]->shape.is_ranked()) return std::vector<TensorType>{{DType::i64, Shape{Dim::unknown()}}};
  const auto [first, last] = told(ctx.attrs, ctx.inputs[0]->shape.rank());
  return std::vector<TensorType>{{DType::i64, Shape{Dim(last - first)}}};
}

Status evaluate_shape(const EvalContext& ctx) {
  const auto [first, last] = told(ctx.attrs, ctx.inputs[0].rank());
  return store<int64_t>(ctx.outputs[0], std::span<const int64_t>(ctx.inputs[0].sizes)
                                            .subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
}

Result<std::vector<TensorType>> infer_size(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(is_tensor(ctx));
  return std::vector<TensorType>{{DType::i64, Shape()}};
}

Status evaluate_size(const EvalContext& ctx) {
  const int64_t n = ctx.inputs[0].elements();
  return store<int64_t>(ctx.outputs[0], std::span<const int64_t>(&n, 1));
}

DType dtype_of(const InferContext&, size_t) {
  return DType::i64;
}

Cost cost(const InferContext&, std::span<const TensorType> outputs) {
  return {.flops = 0, .bytes_read = 0, .bytes_written = bytes_of(outputs[0])};
}

}  // namespace

extern constexpr OpDef kShape = {.name = "shape",
                                 .summary = "y = x's sizes",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = kAttrs,
                                 .infer = infer_shape,
                                 .evaluate = evaluate_shape,
                                 .cost = cost,
                                 .infers_any = true,
                                 .dtype_of = dtype_of,
                                 .of_sizes = true};

extern constexpr OpDef kSize = {.name = "size",
                                .summary = "y = how many elements x has",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = {},
                                .infer = infer_size,
                                .evaluate = evaluate_size,
                                .cost = cost,
                                .infers_any = true,
                                .dtype_of = dtype_of,
                                .of_sizes = true};

}  // namespace nereid::ops
