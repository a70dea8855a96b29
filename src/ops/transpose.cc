// SPDX-License-Identifier: Apache-2.0
// transpose: dimensions in another order.
#include "ops/move.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"permutation", AttrSpec::Kind::kInts, "[]",
     "dimension i of the result is dimension permutation[i] of x; empty: the dimensions are reversed"}};

std::vector<int64_t> permutation_of(const Attrs& attrs, int rank) {
  std::vector<int64_t> permutation = attrs.integers("permutation");
  if (permutation.empty())
    for (int d = rank; d-- > 0;) permutation.push_back(d);
  return permutation;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const std::vector<int64_t> permutation = permutation_of(ctx.attrs, rule.rank(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, static_cast<int>(permutation.size())));
  if (is_block_format(rule.type(0).dtype))
    return unsupported("{} cannot be transposed: its elements share bytes", rule.describe(0));
  std::vector<bool> seen(permutation.size(), false);
  std::vector<Dim> dims;
  for (int64_t d : permutation) {
    if (d < 0 || d >= rule.rank(0) || seen[static_cast<size_t>(d)])
      return invalid_argument("permutation should hold each of 0 to {} once, but has {} out of place", rule.rank(0) - 1,
                              d);
    seen[static_cast<size_t>(d)] = true;
    dims.push_back(rule.dim(0, static_cast<int>(d)));
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const std::vector<int64_t> steps = row_major_steps(ctx.inputs[0].sizes);
  std::vector<int64_t> moved;
  for (int64_t d : permutation_of(ctx.attrs, ctx.inputs[0].rank())) moved.push_back(steps[static_cast<size_t>(d)]);
  copy_by_steps(ctx.outputs[0], ctx.inputs[0], moved);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kTranspose = {.name = "transpose",
                                     .summary = "x's dimensions in another order",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attrs = kAttrs,
                                     .infer = infer,
                                     .evaluate = evaluate,
                                     .cost = cost_per_element<0>};

}  // namespace nereid::ops
