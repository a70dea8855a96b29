// SPDX-License-Identifier: Apache-2.0
// split_to_sequence and concat_from_sequence: a tensor as a sequence of its parts, and back.
#include <algorithm>

#include "ops/any_inputs.h"
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kSplit };
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr ArgSpec kSplitInputs[] = {{.name = "x"}, {.name = "split", .optional = true}};
constexpr AttrSpec kSplitAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "0", "the dimension that is split; negative counts from the end"},
    {"keepdims", AttrSpec::Kind::kBool, "true", "without split: the parts keep that dimension, of size 1"}};

Result<std::vector<TensorType>> infer_split(const InferContext& ctx) {
  ShapeRule rule(ctx, kSplitInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, ctx.attrs.integer("axis")));
  std::vector<Dim> dims = rule.shape(kX).dims();
  const int64_t axis = ctx.attrs.integer("axis");
  const auto at = dims.begin() + (axis < 0 ? axis + rule.rank(kX) : axis);
  if (rule.has(kSplit)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kSplit));
    if (rule.rank(kSplit) > 1) return invalid_argument("{} should be a number or a list", rule.describe(kSplit));
    *at = Dim::unknown();
  } else if (ctx.attrs.boolean("keepdims")) {
    *at = Dim(1);
  } else {
    dims.erase(at);
  }
  return std::vector<TensorType>{
      {.dtype = rule.type(kX).dtype, .shape = Shape(std::move(dims)), .container = Container::kSequence}};
}

// Of the split dimension, the size of each part.
Result<std::vector<int64_t>> part_sizes(const AnyContext& ctx, int64_t whole) {
  if (ctx.inputs.size() <= kSplit || ctx.inputs[kSplit] == nullptr)
    return std::vector<int64_t>(static_cast<size_t>(whole), 1);
  const ConstTensorView split = ctx.inputs[kSplit]->view();
  const Elements<int64_t> given = load<int64_t>(split);
  if (split.rank() == 0) {
    if (given[0] <= 0) return invalid_argument("split is {} and should be positive", given[0]);
    std::vector<int64_t> sizes;
    for (int64_t left = whole; left > 0; left -= sizes.back()) sizes.push_back(std::min(left, given[0]));
    return sizes;
  }
  int64_t sum = 0;
  for (int64_t i = 0; i < given.size(); ++i)
    if (given[i] < 0 || __builtin_add_overflow(sum, given[i], &sum))
      return invalid_argument("split[{}] is {}, which is no size", i, given[i]);
  if (sum != whole) return invalid_argument("split adds up to {}, but the dimension has size {}", sum, whole);
  return std::vector<int64_t>(given.begin(), given.end());
}

Result<std::vector<Datum>> evaluate_split(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_split));
  const ConstTensorView x = ctx.inputs[kX]->view();
  const AxisSteps steps = axis_steps(x.sizes, ctx.attrs.integer("axis"));
  // As many parts as elements would allow, not as many as a size claims that comes with another size of 0.
  constexpr int64_t kMostEmptyParts = 1 << 20;
  if (x.elements() == 0 && steps.size > kMostEmptyParts)
    return exhausted("{} parts without elements are more than {}", steps.size, kMostEmptyParts);
  NEREID_TRY(const std::vector<int64_t> parts, part_sizes(ctx, steps.size));
  const int64_t axis = ctx.attrs.integer("axis");
  const auto along = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  const bool drop = (ctx.inputs.size() <= kSplit || ctx.inputs[kSplit] == nullptr) && !ctx.attrs.boolean("keepdims");
  std::vector<Datum> items;
  int64_t from = 0;
  for (int64_t size : parts) {
    std::vector<int64_t> sizes = x.sizes;
    sizes[along] = size;
    if (drop) sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(along));
    NEREID_TRY(Tensor part, Tensor::zeros(x.dtype, std::move(sizes)));
    const int64_t count = size * steps.inner;
    for (int64_t outer = 0; outer < steps.outer && count > 0; ++outer)
      copy_elements(part.view(), outer * count, x, (outer * steps.size + from) * steps.inner, count);
    from += size;
    items.emplace_back(std::move(part));
  }
  return one_result(Datum::sequence(x.dtype, std::move(items)));
}

constexpr ArgSpec kConcatInputs[] = {{.name = "sequence"}};
constexpr AttrSpec kConcatAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "", "the dimension that grows, or that is new; negative counts from the end"},
    {"new_axis", AttrSpec::Kind::kBool, "false", "the tensors are laid side by side along a new dimension"}};

Result<std::vector<TensorType>> infer_concat(const InferContext& ctx) {
  const TensorType& type = *ctx.inputs[0];
  if (type.container != Container::kSequence)
    return invalid_argument("the first input is {} and should be a sequence of tensors", type.to_string());
  if (!type.shape.is_ranked()) return std::vector<TensorType>{{type.dtype, Shape::unranked()}};
  std::vector<Dim> dims = type.shape.dims();
  if (ctx.attrs.boolean("new_axis")) dims.emplace_back(1);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = ctx.attrs.integer("axis");
  if (axis < -rank || axis >= rank) return invalid_argument("axis is {}, but the result has {} dimensions", axis, rank);
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (ctx.attrs.boolean("new_axis")) {
    dims.pop_back();
    dims.insert(dims.begin() + at, Dim::unknown());
  } else {
    dims[static_cast<size_t>(at)] = Dim::unknown();
  }
  return std::vector<TensorType>{{type.dtype, Shape(std::move(dims))}};
}

Result<std::vector<Datum>> evaluate_concat(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_concat, true));
  const std::vector<Datum>& items = ctx.inputs[0]->items;
  if (items.empty()) return invalid_argument("an empty sequence cannot be joined");
  const bool fresh = ctx.attrs.boolean("new_axis");
  int64_t axis = ctx.attrs.integer("axis");
  const auto rank = static_cast<int64_t>(items[0].tensor.sizes.size()) + fresh;
  if (axis < -rank || axis >= rank) return invalid_argument("axis is {}, but the result has {} dimensions", axis, rank);
  if (axis < 0) axis += rank;
  const auto along = static_cast<size_t>(axis);
  std::vector<ConstTensorView> parts;
  std::vector<int64_t> sizes;
  for (const Datum& item : items) {
    parts.push_back(item.view());
    std::vector<int64_t>& own = parts.back().sizes;
    if (fresh && own.size() + 1 == static_cast<size_t>(rank)) own.insert(own.begin() + axis, 1);
    if (sizes.empty()) {
      sizes = own;
      sizes[along] = 0;
    }
    bool fits = own.size() == sizes.size() && item.tensor.dtype == items[0].tensor.dtype;
    for (size_t d = 0; fits && d < own.size(); ++d) fits = d == along || own[d] == sizes[d];
    if (!fits || __builtin_add_overflow(sizes[along], own[along], &sizes[along]))
      return invalid_argument("element {} of the sequence is {}, which cannot be joined with {}", parts.size() - 1,
                              type_of(item).to_string(), type_of(items[0]).to_string());
  }
  NEREID_TRY(Tensor y, Tensor::zeros(items[0].tensor.dtype, sizes));
  const AxisSteps steps = axis_steps(sizes, axis);
  if (y.view().elements() == 0) return one_result(std::move(y));
  int64_t to = 0;
  for (int64_t outer = 0; outer < steps.outer; ++outer)
    for (const ConstTensorView& part : parts) {
      const int64_t count = part.sizes[along] * steps.inner;
      copy_elements(y.view(), to, part, outer * count, count);
      to += count;
    }
  return one_result(std::move(y));
}

}  // namespace

extern constexpr OpDef kConcatFromSequence = {.name = "concat_from_sequence",
                                              .summary = "the tensors of a sequence joined along an axis, or a new one",
                                              .inputs = kConcatInputs,
                                              .outputs = kOutputs,
                                              .attrs = kConcatAttrs,
                                              .infer = infer_concat,
                                              .evaluate_any = evaluate_concat,
                                              .infers_any = true};

extern constexpr OpDef kSplitToSequence = {
    .name = "split_to_sequence",
    .summary = "x in parts of split elements each, or of split[i]; without split: in slices",
    .inputs = kSplitInputs,
    .outputs = kOutputs,
    .attrs = kSplitAttrs,
    .infer = infer_split,
    .evaluate_any = evaluate_split};

}  // namespace nereid::ops
