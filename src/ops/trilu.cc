// SPDX-License-Identifier: Apache-2.0
// trilu: the upper or lower triangle of each matrix, zeros elsewhere.
#include <algorithm>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kK };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "k", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"upper", AttrSpec::Kind::kBool, "true", "keep what lies on or above the diagonal k, else on or below it"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 2));
  if (rule.has(kK)) NEREID_RETURN_IF_ERROR(known_scalar(ctx, rule, kK));
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  if (x.elements() == 0) return Status::ok();
  const int64_t rows = x.sizes[x.sizes.size() - 2];
  const int64_t columns = x.sizes.back();
  int64_t k = ctx.inputs[kK].data != nullptr ? load<int64_t>(ctx.inputs[kK])[0] : 0;
  k = std::clamp(k, -rows - 1, columns + 1);  // beyond, nothing changes
  const bool upper = ctx.attrs.boolean("upper");
  for (int64_t row = 0; row < x.elements() / columns; ++row) {
    const int64_t diagonal = row % rows + k;
    const int64_t first = upper ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
    const int64_t last = upper ? columns : std::clamp<int64_t>(diagonal + 1, 0, columns);
    copy_elements(ctx.outputs[0], row * columns + first, x, row * columns + first, last - first);
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kTrilu = {
    .name = "trilu",
    .summary = "x[..., i, j] where j - i >= k (upper) or <= k (lower), else zero; without k: 0",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<0>};

}  // namespace nereid::ops
