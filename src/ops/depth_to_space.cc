// SPDX-License-Identifier: Apache-2.0
// depth_to_space and space_to_depth: channels become blocks of pixels, and back.
#include "ops/dim_product.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"blocksize", AttrSpec::Kind::kInt, "", "height and width of a block"},
    {"mode", AttrSpec::Kind::kString, "DCR",
     "which goes first where the many channels are counted: DCR: the place in the block; CRD: the few channels"}};

Result<int64_t> block_of(const InferContext& ctx, const ShapeRule& rule) {
  NEREID_RETURN_IF_ERROR(is_movable(rule, 0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 4));
  const std::string& mode = ctx.attrs.text("mode");
  if (mode != "DCR" && mode != "CRD") return invalid_argument("mode is '{}' and should be DCR or CRD", mode);
  const int64_t block = ctx.attrs.integer("blocksize");
  if (block < 1 || block > 1 << 20) return invalid_argument("blocksize is {} and should be 1 to {}", block, 1 << 20);
  return block;
}

template <bool kToSpace>
Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const int64_t block, block_of(ctx, rule));
  const auto scaled = [&](int d, bool grows, int64_t by) {
    return (grows ? multiplied(rule.dim(0, d), by) : divided(rule.dim(0, d), by))
        .with(fmt::format("dimension {} of {}", d, rule.describe(0)));
  };
  NEREID_TRY(Dim c, scaled(1, !kToSpace, block * block));
  NEREID_TRY(Dim h, scaled(2, kToSpace, block));
  NEREID_TRY(Dim w, scaled(3, kToSpace, block));
  return std::vector<TensorType>{{rule.type(0).dtype, Shape{rule.dim(0, 0), c, h, w}}};
}

// y[n, c, h b + i, w b + j] = x[n, m, h, w], m = (i b + j) C + c (DCR) or (c b + i) b + j (CRD).
Status evaluate_to_space(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  if (y.elements() == 0) return Status::ok();
  const int64_t b = ctx.attrs.integer("blocksize");
  const int64_t c = y.sizes[1];
  const int64_t h = y.sizes[2] / b;
  const int64_t w = y.sizes[3] / b;
  const int64_t plane = h * w;
  const bool place_first = ctx.attrs.text("mode") == "DCR";
  const int64_t of_c = place_first ? plane : plane * b * b;
  const int64_t of_j = place_first ? plane * c : plane;
  const int64_t steps[] = {c * b * b * plane, of_c, w, of_j * b, 1, of_j};
  copy_by_steps(with_sizes(y, {y.sizes[0], c, h, b, w, b}), ctx.inputs[0], steps);
  return Status::ok();
}

Status evaluate_to_depth(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const TensorView& y = ctx.outputs[0];
  if (y.elements() == 0) return Status::ok();
  const int64_t b = ctx.attrs.integer("blocksize");
  const int64_t c = x.sizes[1];
  const int64_t h = y.sizes[2];
  const int64_t w = y.sizes[3];
  const int64_t row = w * b;  // of x
  const int64_t plane = h * b * row;
  if (ctx.attrs.text("mode") == "DCR") {
    const int64_t steps[] = {c * plane, row, 1, plane, b * row, b};
    copy_by_steps(with_sizes(y, {y.sizes[0], b, b, c, h, w}), x, steps);
  } else {
    const int64_t steps[] = {c * plane, plane, row, 1, b * row, b};
    copy_by_steps(with_sizes(y, {y.sizes[0], c, b, b, h, w}), x, steps);
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kDepthToSpace = {.name = "depth_to_space",
                                        .summary = "x[N, C b b, H, W] -> y[N, C, H b, W b]",
                                        .inputs = kInputs,
                                        .outputs = kOutputs,
                                        .attrs = kAttrs,
                                        .infer = infer<true>,
                                        .evaluate = evaluate_to_space,
                                        .cost = cost_per_element<0>};

extern constexpr OpDef kSpaceToDepth = {.name = "space_to_depth",
                                        .summary = "x[N, C, H b, W b] -> y[N, C b b, H, W]",
                                        .inputs = kInputs,
                                        .outputs = kOutputs,
                                        .attrs = kAttrs,
                                        .infer = infer<false>,
                                        .evaluate = evaluate_to_depth,
                                        .cost = cost_per_element<0>};

}  // namespace nereid::ops
