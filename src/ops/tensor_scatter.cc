// SPDX-License-Identifier: Apache-2.0
// tensor_scatter: new steps written into a cache, for each sequence of the batch from its own place on.
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kCache, kUpdate, kPlaces };
constexpr ArgSpec kInputs[] = {{.name = "past_cache"}, {.name = "update"}, {.name = "write_indices", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "present_cache"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "-2", "the dimension of the steps, not the first; negative counts from the end"},
    {"mode", AttrSpec::Kind::kString, "linear",
     "past the end of the cache: linear: refused; circular: from its start on"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kCache));
  const std::string& mode = ctx.attrs.text("mode");
  if (mode != "linear" && mode != "circular")
    return invalid_argument("mode is '{}' and should be linear or circular", mode);
  NEREID_RETURN_IF_ERROR(rule.has_axis(kCache, ctx.attrs.integer("axis")));
  const int64_t axis = ctx.attrs.integer("axis");
  const int at = static_cast<int>(axis < 0 ? axis + rule.rank(kCache) : axis);
  if (at == 0) return invalid_argument("axis {} is the batch's dimension and should be another", axis);
  if (rule.type(kUpdate).dtype != rule.type(kCache).dtype || rule.rank(kUpdate) != rule.rank(kCache))
    return invalid_argument("{} and {} should have one element type and rank", rule.describe(kCache),
                            rule.describe(kUpdate));
  for (int d = 0; d < rule.rank(kCache); ++d)
    if (d != at) NEREID_RETURN_IF_ERROR(rule.agree(kCache, d, kUpdate, d));
  if (rule.dim(kCache, at).is_static() && rule.dim(kUpdate, at).is_static() &&
      rule.dim(kUpdate, at).size() > rule.dim(kCache, at).size())
    return invalid_argument("{} has more steps than {}", rule.describe(kUpdate), rule.describe(kCache));
  if (rule.has(kPlaces)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kPlaces));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kPlaces, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kPlaces, 0, kCache, 0));
  }
  return std::vector<TensorType>{rule.type(kCache)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& cache = ctx.inputs[kCache];
  const ConstTensorView& update = ctx.inputs[kUpdate];
  const TensorView& y = ctx.outputs[0];
  NEREID_RETURN_IF_ERROR(copy_all(y, cache));
  if (update.elements() == 0) return Status::ok();
  const AxisSteps steps = axis_steps(cache.sizes, ctx.attrs.integer("axis"));
  const int64_t fresh = axis_steps(update.sizes, ctx.attrs.integer("axis")).size;
  const bool circular = ctx.attrs.text("mode") == "circular";
  const bool has_places = ctx.inputs[kPlaces].data != nullptr;
  Elements<int64_t> places(cache.sizes[0], 0);
  if (has_places) places = load<int64_t>(ctx.inputs[kPlaces]);
  for (int64_t b = 0; b < places.size(); ++b) {
    const bool fits = places[b] >= 0 && places[b] <= steps.size - fresh;
    if (places[b] < 0 || (!circular && !fits))
      return invalid_argument("write_indices[{}] is {}, where {} steps do not fit into a cache of {}", b, places[b],
                              fresh, steps.size);
    places[b] %= steps.size;
  }
  const int64_t rows = steps.outer / cache.sizes[0];  // of one sequence
  for (int64_t outer = 0; outer < steps.outer; ++outer)
    for (int64_t i = 0; i < fresh; ++i) {
      const int64_t place = (places[outer / rows] + i) % steps.size;
      copy_elements(y, (outer * steps.size + place) * steps.inner, update, (outer * fresh + i) * steps.inner,
                    steps.inner);
    }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kTensorScatter = {
    .name = "tensor_scatter",
    .summary = "past_cache with update's steps from write_indices[b] on in sequence b; without write_indices: from 0",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<0>};

}  // namespace nereid::ops
