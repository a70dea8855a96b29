// SPDX-License-Identifier: Apache-2.0
// rope: each head of each row is rotated by its position.
#include <cmath>

#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/rotate.h"
#include "ops/shape_rule.h"

namespace nereid::ops {

void rotate_head(std::span<float> head, int64_t position, std::span<const float> inv_freq, bool interleaved,
                 double scale) {
  const size_t n = inv_freq.size();
  for (size_t i = 0; i < n; ++i) {
    // Single precision, as every framework computes it: at large positions the angle's rounding is part of the model.
    const float angle = static_cast<float>(position) * inv_freq[i];
    const double c = std::cos(static_cast<double>(angle)) * scale;
    const double s = std::sin(static_cast<double>(angle)) * scale;
    float& a = head[interleaved ? 2 * i : i];
    float& b = head[interleaved ? 2 * i + 1 : i + n];
    const double x = a;
    const double y = b;
    a = static_cast<float>(x * c - y * s);
    b = static_cast<float>(y * c + x * s);
  }
}

namespace {

enum : size_t { kX, kPositions, kInvFreq };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "positions"}, {.name = "inv_freq"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"head_dim", AttrSpec::Kind::kInt, "", "elements of a head; each head turns alike"},
    {"interleaved", AttrSpec::Kind::kBool, "false", "pairs are neighbours (2i, 2i + 1) instead of (i, i + half)"},
    {"scale", AttrSpec::Kind::kFloat, "1.0", "multiplies sine and cosine"},
};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const int64_t head_dim = ctx.attrs.integer("head_dim");
  if (head_dim <= 0) return invalid_argument("head_dim is {} and should be positive", head_dim);
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kX, 2));
  NEREID_RETURN_IF_ERROR(rule.is_index(kPositions));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kPositions, 1));
  NEREID_RETURN_IF_ERROR(rule.agree(kX, 0, kPositions, 0));
  NEREID_RETURN_IF_ERROR(rule.is_activation(kInvFreq));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kInvFreq, 1));
  const Dim& width = rule.dim(kX, 1);
  if (width.is_static() && width.size() % head_dim != 0)
    return invalid_argument("{} does not split into heads of {}", rule.describe(kX), head_dim);
  const Dim& pairs = rule.dim(kInvFreq, 0);
  if (pairs.is_static() && pairs.size() > head_dim / 2)
    return invalid_argument("{} has more frequencies than a head of {} has pairs", rule.describe(kInvFreq), head_dim);
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(auto x, read_floats(ctx.inputs[kX]));
  NEREID_TRY(auto positions, read_integers(ctx.inputs[kPositions]));
  NEREID_TRY(auto inv_freq, read_floats(ctx.inputs[kInvFreq]));
  const size_t head_dim = static_cast<size_t>(ctx.attrs.integer("head_dim"));
  const size_t width = static_cast<size_t>(ctx.inputs[kX].row_elements());
  for (size_t first = 0; first < x.size(); first += head_dim)
    rotate_head(std::span(x).subspan(first, head_dim), positions[first / width], inv_freq,
                ctx.attrs.boolean("interleaved"), ctx.attrs.real("scale"));
  write_floats(ctx.outputs[0], 0, x);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kRope = {
    .name = "rope",
    .summary = "each pair of a head's first elements turned by position * inv_freq, times scale",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<20>};

}  // namespace nereid::ops
