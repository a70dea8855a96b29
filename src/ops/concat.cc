// SPDX-License-Identifier: Apache-2.0
// concat: tensors joined along one dimension.
#include "ops/elements.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x", .variadic = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "", "the dimension that grows; negative counts from the end"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (ctx.inputs.empty()) return invalid_argument("there is nothing to join");
  NEREID_RETURN_IF_ERROR(rule.has_axis(0, ctx.attrs.integer("axis")));
  const int axis = static_cast<int>(ctx.attrs.integer("axis") < 0 ? ctx.attrs.integer("axis") + rule.rank(0)
                                                                  : ctx.attrs.integer("axis"));
  if (is_block_format(rule.type(0).dtype))
    return unsupported("{} cannot be joined: its elements share bytes", rule.describe(0));
  std::vector<Dim> dims = rule.shape(0).dims();
  int64_t sum = 0;
  std::vector<Dim> symbols;  // sizes that are not known yet
  for (size_t i = 0; i < ctx.inputs.size(); ++i) {
    if (rule.type(i).dtype != rule.type(0).dtype || rule.rank(i) != rule.rank(0))
      return invalid_argument("{} and {} should have one element type and rank", rule.describe(0), rule.describe(i));
    for (int d = 0; d < rule.rank(0); ++d)
      if (d != axis) {
        NEREID_RETURN_IF_ERROR(rule.agree(0, d, i, d));
        Dim& size = dims[static_cast<size_t>(d)];
        size = merge(size, rule.dim(i, d)).value_or(size);
      }
    const Dim& size = rule.dim(i, axis);
    if (!size.is_static()) symbols.push_back(size);
    if (__builtin_add_overflow(sum, size.is_static() ? size.size() : 0, &sum))
      return invalid_argument("dimension {} of the result is too large", axis);
  }
  if (symbols.empty()) {
    dims[static_cast<size_t>(axis)] = Dim(sum);
  } else {
    dims[static_cast<size_t>(axis)] = symbols.size() == 1 && sum == 0 ? symbols[0] : Dim::unknown();
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const TensorView& dst = ctx.outputs[0];
  const AxisSteps whole = axis_steps(dst.sizes, ctx.attrs.integer("axis"));
  int64_t to = 0;
  for (int64_t outer = 0; outer < whole.outer; ++outer) {
    for (const ConstTensorView& x : ctx.inputs) {
      const int64_t count = axis_steps(x.sizes, ctx.attrs.integer("axis")).size * whole.inner;
      copy_elements(dst, to, x, outer * count, count);
      to += count;
    }
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kConcat = {.name = "concat",
                                  .summary = "the inputs joined along the axis",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .evaluate = evaluate,
                                  .cost = cost_per_element<0>};

}  // namespace nereid::ops
