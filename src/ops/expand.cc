// SPDX-License-Identifier: Apache-2.0
// expand and tile: a tensor repeated, along dimensions of size 1 up to given sizes, or whole so many times.
#include "ops/dim_product.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kSizes };
constexpr ArgSpec kExpandInputs[] = {{.name = "x"}, {.name = "shape"}};
constexpr ArgSpec kTileInputs[] = {{.name = "x"}, {.name = "repeats"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer_expand(const InferContext& ctx) {
  ShapeRule rule(ctx, kExpandInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kSizes));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kSizes, 1));
  const DType dtype = rule.type(kX).dtype;
  const auto sizes = known_integers(ctx, kSizes);
  if (!sizes) {
    const Dim& count = rule.dim(kSizes, 0);
    NEREID_TRY(Shape open,
               shape_of_rank(count.is_static() && count.size() < rule.rank(kX) ? Dim(rule.rank(kX)) : count));
    return std::vector<TensorType>{{dtype, std::move(open)}};
  }
  for (size_t i = 0; i < sizes->size(); ++i)
    if ((*sizes)[i] < 0) return invalid_argument("shape[{}] is {}, which is no size", i, (*sizes)[i]);
  auto shape = broadcast(rule.shape(kX), Shape::of(*sizes));
  if (!shape)
    return invalid_argument("{} does not broadcast to the shape {}", rule.describe(kX), Shape::of(*sizes).to_string());
  return std::vector<TensorType>{{dtype, *std::move(shape)}};
}

Status evaluate_expand(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const std::vector<int64_t> own = row_major_steps(x.sizes);
  std::vector<int64_t> steps(ctx.outputs[0].sizes.size(), 0);
  for (size_t i = 1; i <= own.size(); ++i)
    if (x.sizes[own.size() - i] != 1) steps[steps.size() - i] = own[own.size() - i];
  copy_by_steps(ctx.outputs[0], x, steps);
  return Status::ok();
}

Result<std::vector<TensorType>> infer_tile(const InferContext& ctx) {
  ShapeRule rule(ctx, kTileInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kSizes));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kSizes, 1));
  NEREID_RETURN_IF_ERROR(rule.has_size(kSizes, 0, rule.rank(kX), "one number a dimension of x"));
  const auto repeats = known_integers(ctx, kSizes);
  std::vector<Dim> dims;
  for (int d = 0; d < rule.rank(kX); ++d) {
    const Dim& size = rule.dim(kX, d);
    if (!repeats) {
      dims.push_back(Dim::unknown());
      continue;
    }
    const int64_t times = (*repeats)[static_cast<size_t>(d)];
    if (times < 0) return invalid_argument("repeats[{}] is {} and should not be negative", d, times);
    NEREID_TRY(Dim product, multiplied(size, times).with(fmt::format("dimension {} of the result", d)));
    dims.push_back(std::move(product));
  }
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Status evaluate_tile(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const TensorView& y = ctx.outputs[0];
  if (y.elements() == 0) return Status::ok();
  std::vector<std::vector<int64_t>> at;
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    at.emplace_back();
    for (int64_t i = 0; i < y.sizes[d]; ++i) at.back().push_back(i % x.sizes[d]);
  }
  copy_by_places(y, x, at);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kExpand = {.name = "expand",
                                  .summary = "x broadcast, as numpy does, with a tensor of the sizes in shape",
                                  .inputs = kExpandInputs,
                                  .outputs = kOutputs,
                                  .attrs = {},
                                  .infer = infer_expand,
                                  .evaluate = evaluate_expand,
                                  .cost = cost_per_element<0>};

extern constexpr OpDef kTile = {.name = "tile",
                                .summary = "x repeated repeats[d] times along each dimension d",
                                .inputs = kTileInputs,
                                .outputs = kOutputs,
                                .attrs = {},
                                .infer = infer_tile,
                                .evaluate = evaluate_tile,
                                .cost = cost_per_element<0>};

}  // namespace nereid::ops
