// SPDX-License-Identifier: Apache-2.0
// split: consecutive parts of the last dimension. A runtime may make the parts views of the whole.
#include "ops/elements.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "part", .variadic = true}};
constexpr AttrSpec kAttrs[] = {
    {"sizes", AttrSpec::Kind::kInts, "", "elements of each part; their sum is x's last dimension"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(0, 1));
  if (is_block_format(rule.type(0).dtype))
    return unsupported("{} cannot be split: its elements share bytes", rule.describe(0));
  const std::vector<int64_t>& sizes = ctx.attrs.integers("sizes");
  if (sizes.empty()) return invalid_argument("sizes is empty and should name at least one part");
  int64_t sum = 0;
  std::vector<TensorType> parts;
  for (int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(sum, size, &sum))
      return invalid_argument("sizes holds {}, which is no size", size);
    std::vector<Dim> dims = rule.shape(0).dims();
    dims.back() = Dim(size);
    parts.push_back({rule.type(0).dtype, Shape(std::move(dims))});
  }
  NEREID_RETURN_IF_ERROR(rule.has_size(0, -1, sum, "the sum of sizes"));
  return parts;
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  int64_t from = 0;
  for (int64_t row = 0; row < x.rows(); ++row) {
    for (const TensorView& part : ctx.outputs) {
      copy_elements(part, row * part.row_elements(), x, from, part.row_elements());
      from += part.row_elements();
    }
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kSplit = {.name = "split",
                                 .summary = "consecutive parts of x's last dimension",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = kAttrs,
                                 .infer = infer,
                                 .evaluate = evaluate,
                                 .cost = cost_per_element<0>};

}  // namespace nereid::ops
