// SPDX-License-Identifier: Apache-2.0
// embedding: the table's row of each id.
#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kIds, kWeights };
constexpr ArgSpec kInputs[] = {{.name = "ids"}, {.name = "table"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_index(kIds));
  NEREID_RETURN_IF_ERROR(rule.is_weight(kWeights));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kWeights, 2));
  std::vector<Dim> dims = rule.shape(kIds).dims();
  dims.push_back(rule.dim(kWeights, 1));
  return std::vector<TensorType>{{DType::f32, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& table = ctx.inputs[kWeights];
  NEREID_TRY(auto ids, read_integers(ctx.inputs[kIds]));
  std::vector<float> row(static_cast<size_t>(table.row_elements()));
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= table.rows())
      return invalid_argument("ids[{}] is {}, but the table has {} rows", t, ids[t], table.rows());
    NEREID_RETURN_IF_ERROR(read_row(table, ids[t], row));
    write_floats(ctx.outputs[0], static_cast<int64_t>(t * row.size()), row);
  }
  return Status::ok();
}

// Only the rows asked for are read.
Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  const DTypeInfo& format = dtype_info(ctx.inputs[kWeights]->dtype);
  const double n = elements_of(outputs[0]);
  return {.flops = 0,
          .bytes_read = bytes_of(*ctx.inputs[kIds]) + n * format.block_bytes / format.block_elements,
          .bytes_written = bytes_of(outputs[0])};
}

}  // namespace

extern constexpr OpDef kEmbedding = {.name = "embedding",
                                     .summary = "y[t] = table[ids[t]], as f32",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attrs = {},
                                     .infer = infer,
                                     .evaluate = evaluate,
                                     .cost = cost};

}  // namespace nereid::ops
