// SPDX-License-Identifier: Apache-2.0
// slice: from a start to an end by steps, along some dimensions, as Python's slices do.
#include <algorithm>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kStarts, kEnds, kAxes, kSteps };
constexpr ArgSpec kInputs[] = {{.name = "x"},
                               {.name = "starts"},
                               {.name = "ends"},
                               {.name = "axes", .optional = true},
                               {.name = "steps", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

struct Cut {
  int64_t start = 0, step = 1, count = 0;
};

// Which elements of a dimension of `size` are taken. `step` is not 0.
Cut cut(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (size == 0) return {.start = 0, .step = step, .count = 0};
  const bool forward = step > 0;
  const int64_t last = forward ? size : size - 1;
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, last);
  // Backwards, an end below -size stands for "before the first".
  end = std::clamp<int64_t>(end < 0 ? end + size : end, forward ? 0 : -1, last);
  const int64_t length = forward ? end - start : start - end;
  const uint64_t stride = forward ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  if (length <= 0) return {.start = 0, .step = step, .count = 0};
  return {
      .start = start, .step = step, .count = static_cast<int64_t>((static_cast<uint64_t>(length) - 1) / stride) + 1};
}

Status check_lists(const ShapeRule& rule) {
  for (size_t i : {kStarts, kEnds, kAxes, kSteps}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.is_index(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(i, 0, kStarts, 0));
  }
  return Status::ok();
}

// The axes that are cut; nothing where their values are not known.
Result<std::optional<std::vector<size_t>>> read_axes(const InferContext& ctx, const ShapeRule& rule) {
  std::vector<int64_t> axes;
  if (rule.has(kAxes)) {
    const auto known = known_integers(ctx, kAxes);
    if (!known) return std::optional<std::vector<size_t>>();
    axes = *known;
  } else {
    const Dim& count = rule.dim(kStarts, 0);
    if (!count.is_static()) return std::optional<std::vector<size_t>>();
    if (count.size() > rule.rank(kX))
      return invalid_argument("{} cuts more dimensions than {} has", rule.describe(kStarts), rule.describe(kX));
    axes = every_place(count.size());
  }
  NEREID_TRY(std::vector<size_t> wrapped, wrap_axes(axes, rule.rank(kX), "axes"));
  return std::optional(std::move(wrapped));
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(check_lists(rule));
  NEREID_TRY(const auto axes, read_axes(ctx, rule));
  if (!axes) {
    NEREID_TRY(Shape open, shape_of_rank(Dim(rule.rank(kX))));
    return std::vector<TensorType>{{rule.type(kX).dtype, std::move(open)}};
  }
  const auto starts = known_integers(ctx, kStarts);
  const auto ends = known_integers(ctx, kEnds);
  const auto steps = known_integers(ctx, kSteps);
  if ((starts && starts->size() != axes->size()) || (ends && ends->size() != axes->size()) ||
      (steps && steps->size() != axes->size()))
    return invalid_argument("starts, ends, axes and steps should be as many");
  std::vector<Dim> dims = rule.shape(kX).dims();
  for (size_t i = 0; i < axes->size(); ++i) {
    Dim& size = dims[(*axes)[i]];
    if (steps && (*steps)[i] == 0) return invalid_argument("steps[{}] is 0 and should not be", i);
    if (!starts || !ends || (rule.has(kSteps) && !steps)) {
      size = Dim::unknown();
      continue;
    }
    const int64_t start = (*starts)[i];
    const int64_t end = (*ends)[i];
    const int64_t step = steps ? (*steps)[i] : 1;
    if (size.is_static()) {
      size = Dim(cut(start, end, step, size.size()).count);
    } else if (start != 0 || step != 1 || end < INT32_MAX) {  // else the whole, whatever its size
      size = Dim::unknown();
    }
  }
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const Elements<int64_t> starts = load<int64_t>(ctx.inputs[kStarts]);
  const Elements<int64_t> ends = load<int64_t>(ctx.inputs[kEnds]);
  const bool has_axes = ctx.inputs[kAxes].data != nullptr;
  const bool has_steps = ctx.inputs[kSteps].data != nullptr;
  std::vector<int64_t> along = row_major_steps(x.sizes);
  int64_t first = 0;
  Elements<int64_t> axes, steps;
  if (has_axes) axes = load<int64_t>(ctx.inputs[kAxes]);
  if (has_steps) steps = load<int64_t>(ctx.inputs[kSteps]);
  for (int64_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = has_axes ? axes[i] : i;
    const auto d = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    const Cut part = cut(starts[i], ends[i], has_steps ? steps[i] : 1, x.sizes[d]);
    first += part.start * along[d];
    // A step of which there is at most one is never taken, and may be too large to multiply.
    along[d] = part.count > 1 ? along[d] * part.step : 0;
  }
  copy_by_steps(ctx.outputs[0], x, along, first);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kSlice = {
    .name = "slice",
    .summary = "x from starts to before ends by steps along axes (without axes: the first ones; without steps: 1)",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = {},
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<0>};

}  // namespace nereid::ops
