// SPDX-License-Identifier: Apache-2.0
// split_along: consecutive parts along one dimension, of given sizes or as equal as possible.
#include <algorithm>

#include "ops/dim_product.h"
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kSizes };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "sizes", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "part", .variadic = true}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "0", "the dimension that is split; negative counts from the end"},
    {"num_outputs", AttrSpec::Kind::kInt, "0", "how many parts there are; 0: as many as sizes"}};

constexpr int64_t kMostParts = 1 << 20;

Result<int64_t> count_parts(const InferContext& ctx, const ShapeRule& rule) {
  int64_t count = ctx.attrs.integer("num_outputs");
  if (rule.has(kSizes)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kSizes));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kSizes, 1));
    const Dim& listed = rule.dim(kSizes, 0);
    if (count == 0 && !listed.is_static())
      return unsupported("{} does not tell how many parts there are", rule.describe(kSizes));
    if (count == 0) count = listed.size();
    NEREID_RETURN_IF_ERROR(rule.has_size(kSizes, 0, count, "one size a part"));
  }
  if (count < 1 || count > kMostParts)
    return invalid_argument("{} parts are asked for and should be 1 to {}", count, kMostParts);
  return count;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, ctx.attrs.integer("axis")));
  NEREID_TRY(const int64_t count, count_parts(ctx, rule));
  const int64_t axis = ctx.attrs.integer("axis");
  const int at = static_cast<int>(axis < 0 ? axis + rule.rank(kX) : axis);
  const Dim& whole = rule.dim(kX, at);
  std::vector<TensorType> parts(static_cast<size_t>(count), rule.type(kX));
  const auto sizes = known_integers(ctx, kSizes);
  if (sizes) {
    int64_t sum = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t size = (*sizes)[i];
      if (size < 0 || __builtin_add_overflow(sum, size, &sum))
        return invalid_argument("sizes[{}] is {}, which is no size", i, size);
      parts[i].shape[at] = Dim(size);
    }
    NEREID_RETURN_IF_ERROR(rule.has_size(kX, at, sum, "the sum of sizes"));
    return parts;
  }
  if (!rule.has(kSizes) && !whole.is_static()) {
    NEREID_TRY(const Dim each, divided(whole, count));
    for (TensorType& part : parts) part.shape[at] = each;
    return parts;
  }
  // Equal parts are rounded up; what is left is the last one's.
  int64_t left = whole.is_static() ? whole.size() : 0;
  const int64_t each = left / count + (left % count != 0);
  for (TensorType& part : parts) {
    const int64_t size = std::min(each, left);
    left -= size;
    part.shape[at] = rule.has(kSizes) ? Dim::unknown() : Dim(size);
  }
  return parts;
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  if (x.elements() == 0) return Status::ok();
  const AxisSteps whole = axis_steps(x.sizes, ctx.attrs.integer("axis"));
  int64_t from = 0;
  for (int64_t outer = 0; outer < whole.outer; ++outer)
    for (const TensorView& part : ctx.outputs) {
      const int64_t count = part.elements() / whole.outer;
      copy_elements(part, outer * count, x, from, count);
      from += count;
    }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kSplitAlong = {
    .name = "split_along",
    .summary = "consecutive parts of x along the axis; without sizes: equal ones, the last smaller where it must be",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<0>};

}  // namespace nereid::ops
