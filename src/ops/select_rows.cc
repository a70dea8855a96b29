// SPDX-License-Identifier: Apache-2.0
// select_rows: some rows of a matrix, in the order asked for (the tokens whose logits are wanted).
#include <cstring>

#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kRows };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "rows"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.has_rank(kX, 2));
  NEREID_RETURN_IF_ERROR(rule.is_index(kRows));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kRows, 1));
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape{rule.dim(kRows, 0), rule.dim(kX, 1)}}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  NEREID_TRY(auto rows, read_integers(ctx.inputs[kRows]));
  auto row_bytes = dtype_bytes(x.dtype, x.sizes[1]);
  if (!row_bytes)
    return unsupported("rows of {} elements of type {} have no whole number of bytes", x.sizes[1], dtype_name(x.dtype));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= x.sizes[0])
      return invalid_argument("rows[{}] is {}, but x has {} rows", i, rows[i], x.sizes[0]);
    std::memcpy(ctx.outputs[0].as<std::byte>() + static_cast<int64_t>(i) * *row_bytes,
                x.as<std::byte>() + rows[i] * *row_bytes, static_cast<size_t>(*row_bytes));
  }
  return Status::ok();
}

// Only the rows asked for are read.
Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  return {.flops = 0,
          .bytes_read = bytes_of(outputs[0]) + bytes_of(*ctx.inputs[kRows]),
          .bytes_written = bytes_of(outputs[0])};
}

}  // namespace

extern constexpr OpDef kSelectRows = {.name = "select_rows",
                                      .summary = "y[i] = x[rows[i]]",
                                      .inputs = kInputs,
                                      .outputs = kOutputs,
                                      .attrs = {},
                                      .infer = infer,
                                      .evaluate = evaluate,
                                      .cost = cost};

}  // namespace nereid::ops
