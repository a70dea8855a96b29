// SPDX-License-Identifier: Apache-2.0
// reshape: the same elements in row-major order under other sizes.
#include "ops/dim_product.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"shape", AttrSpec::Kind::kInts, "", "the new sizes; 0: x's size in that place, -1 (once): what is left"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const std::vector<int64_t>& wanted = ctx.attrs.integers("shape");
  if (is_block_format(rule.type(0).dtype))
    return unsupported("{} cannot be reshaped: its elements share bytes", rule.describe(0));
  const DimProduct all(rule.shape(0).dims());
  DimProduct known;
  std::vector<Dim> dims;
  int open = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) return invalid_argument("shape[{}] is {}, which is no size", i, wanted[i]);
    if (wanted[i] == -1) {
      if (open >= 0) return invalid_argument("shape has -1 in places {} and {}; it may stand once", open, i);
      open = static_cast<int>(i);
      dims.emplace_back(1);
      continue;
    }
    if (wanted[i] == 0 && static_cast<int>(i) >= rule.rank(0))
      return invalid_argument("shape[{}] is 0, but {} has no such dimension", i, rule.describe(0));
    dims.push_back(wanted[i] == 0 ? rule.dim(0, static_cast<int>(i)) : Dim(wanted[i]));
    known.multiply(dims.back());
  }
  if (!all.fits || !known.fits) return invalid_argument("{} or its new shape has too many elements", rule.describe(0));
  auto rest =
      quotient(all, known).with(fmt::format("{} cannot take the shape {}", rule.describe(0), Shape(dims).to_string()));
  if (open >= 0) {
    NEREID_RETURN_IF_ERROR(rest);
    dims[static_cast<size_t>(open)] = *rest;
  } else if (all.symbols == known.symbols && !all.has_unknown() && (!rest || !(*rest == Dim(1)))) {
    return invalid_argument("{} has not as many elements as the shape {}", rule.describe(0), Shape(dims).to_string());
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  return copy_all(ctx.outputs[0], ctx.inputs[0]);
}

}  // namespace

extern constexpr OpDef kReshape = {.name = "reshape",
                                   .summary = "x's elements in order under other sizes",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kAttrs,
                                   .infer = infer,
                                   .evaluate = evaluate,
                                   .cost = cost_per_element<0>};

}  // namespace nereid::ops
