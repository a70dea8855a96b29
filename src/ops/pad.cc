// SPDX-License-Identifier: Apache-2.0
// pad: elements put before and after along some dimensions: a value, or x reflected, held or wrapped round. Negative
// widths take elements away first.
#include <algorithm>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kPads, kValue, kAxes };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "pads"}, {.name = "value", .optional = true}, {.name = "axes", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"mode", AttrSpec::Kind::kString, "constant",
     "what is put there: constant (value, else zero), reflect (x mirrored at its first and last element), edge (those "
     "elements), wrap (x over and over)"}};

// Of one dimension, what is cut at either end, and then put there.
struct Widths {
  int64_t cut_before, cut_after, before, after;
  Widths(int64_t first, int64_t last)
      : cut_before(std::max<int64_t>(-std::max(first, -INT64_MAX), 0)),
        cut_after(std::max<int64_t>(-std::max(last, -INT64_MAX), 0)),
        before(std::max<int64_t>(first, 0)),
        after(std::max<int64_t>(last, 0)) {}
  // What is left after cutting; negative: more is cut than there is.
  int64_t kept(int64_t size) const {
    return cut_before > size || cut_after > size ? -1 : size - cut_before - cut_after;
  }
};

// Which dimension the width i of the first half of pads belongs to; nothing if that is not known.
Result<std::optional<std::vector<size_t>>> read_axes(const InferContext& ctx, const ShapeRule& rule) {
  std::vector<int64_t> axes;
  if (rule.has(kAxes)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kAxes));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kAxes, 1));
    const auto known = known_integers(ctx, kAxes);
    if (!known) return std::optional<std::vector<size_t>>();
    axes = *known;
  } else {
    axes = every_place(rule.rank(kX));
  }
  NEREID_TRY(std::vector<size_t> wrapped, wrap_axes(axes, rule.rank(kX), "axes"));
  return std::optional(std::move(wrapped));
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kPads));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kPads, 1));
  const std::string& mode = ctx.attrs.text("mode");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return invalid_argument("mode is '{}' and should be constant, reflect, edge or wrap", mode);
  if (rule.has(kValue)) {
    const auto count = rule.shape(kValue).elements();
    if (rule.type(kValue).dtype != rule.type(kX).dtype || (rule.shape(kValue).is_static() && count != 1))
      return invalid_argument("{} should be one {}", rule.describe(kValue), dtype_name(rule.type(kX).dtype));
  }
  NEREID_TRY(const auto axes, read_axes(ctx, rule));
  const auto pads = known_integers(ctx, kPads);
  if (!axes) {
    NEREID_TRY(Shape open, shape_of_rank(Dim(rule.rank(kX))));
    return std::vector<TensorType>{{rule.type(kX).dtype, std::move(open)}};
  }
  const auto n = axes->size();
  NEREID_RETURN_IF_ERROR(rule.has_size(kPads, 0, static_cast<int64_t>(2 * n), "two widths a dimension"));
  std::vector<Dim> dims = rule.shape(kX).dims();
  for (size_t i = 0; i < n; ++i) {
    Dim& dim = dims[(*axes)[i]];
    if (pads && (*pads)[i] == 0 && (*pads)[i + n] == 0) continue;
    if (!pads || !dim.is_static()) {
      dim = Dim::unknown();
      continue;
    }
    const Widths widths((*pads)[i], (*pads)[i + n]);
    const int64_t kept = widths.kept(dim.size());
    int64_t size = 0;
    if (kept < 0 || __builtin_add_overflow(kept, widths.before, &size) ||
        __builtin_add_overflow(size, widths.after, &size))
      return invalid_argument("dimension {} of {} cannot be padded by {} and {}", (*axes)[i], rule.describe(kX),
                              (*pads)[i], (*pads)[i + n]);
    if (kept == 0 && size > 0 && mode != "constant")
      return invalid_argument("dimension {} of {} has nothing for mode {} to repeat", (*axes)[i], rule.describe(kX),
                              mode);
    dim = Dim(size);
  }
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

// Where in 0...size - 1 the place is, counted from the first element that is kept; -1: outside, where the value goes.
int64_t place_in(int64_t place, int64_t size, std::string_view mode) {
  if (place >= 0 && place < size) return place;
  if (mode == "constant") return -1;
  if (mode == "edge") return place < 0 ? 0 : size - 1;
  if (size == 1) return 0;
  const int64_t period = mode == "wrap" ? size : 2 * (size - 1);
  const int64_t within = (place % period + period) % period;
  return within < size ? within : period - within;
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const TensorView& y = ctx.outputs[0];
  if (y.elements() == 0) return Status::ok();
  const Elements<int64_t> pads = load<int64_t>(ctx.inputs[kPads]);
  std::vector<Widths> widths(x.sizes.size(), Widths(0, 0));
  const bool has_axes = ctx.inputs[kAxes].data != nullptr;
  const Elements<int64_t> axes = has_axes ? load<int64_t>(ctx.inputs[kAxes]) : Elements<int64_t>();
  const int64_t n = pads.size() / 2;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t axis = has_axes ? axes[i] : i;
    widths[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = Widths(pads[i], pads[i + n]);
  }
  std::vector<std::vector<int64_t>> at;
  for (size_t d = 0; d < widths.size(); ++d) {
    at.emplace_back();
    const int64_t kept = widths[d].kept(x.sizes[d]);
    for (int64_t i = 0; i < y.sizes[d]; ++i) {
      const int64_t place = place_in(i - widths[d].before, kept, ctx.attrs.text("mode"));
      at.back().push_back(place < 0 ? -1 : place + widths[d].cut_before);
    }
  }
  if (ctx.inputs[kValue].data != nullptr && ctx.attrs.text("mode") == "constant") fill(y, ctx.inputs[kValue]);
  copy_by_places(y, x, at);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kPad = {
    .name = "pad",
    .summary = "x with pads[i] elements more before and pads[n + i] more after it along axes[i] (without axes: each)",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<0>};

}  // namespace nereid::ops
