// SPDX-License-Identifier: Apache-2.0
// rotary_embedding: pairs of numbers of each head turned by angles whose cosines and sines are given (Su et al. 2021).
// The op `rope` of language models makes the angles itself.
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kCos, kSin, kPositions };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "cos_cache"}, {.name = "sin_cache"}, {.name = "position_ids", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"interleaved", AttrSpec::Kind::kBool, "false", "pairs are neighbours, else halves of what is turned"},
    {"num_heads", AttrSpec::Kind::kInt, "0", "heads of x if it has three dimensions"},
    {"rotary_embedding_dim", AttrSpec::Kind::kInt, "0", "how much of a head is turned; 0: all"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kX, kCos, kSin}) NEREID_RETURN_IF_ERROR(rule.is_activation(i));
  const int64_t heads = ctx.attrs.integer("num_heads");
  const int64_t turned = ctx.attrs.integer("rotary_embedding_dim");
  if (rule.rank(kX) != 4) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(kX, 3));
    if (heads < 1)
      return invalid_argument("{} has three dimensions, but the number of heads is not given", rule.describe(kX));
  }
  if (turned < 0 || turned % 2 != 0)
    return invalid_argument("rotary_embedding_dim is {} and should be even and not negative", turned);
  const int steps = rule.rank(kX) == 4 ? 2 : 1;
  if (rule.dim(kX, -1).is_static()) {
    const int64_t width = rule.dim(kX, -1).size();
    const int64_t head = rule.rank(kX) == 4 ? width : width / heads;
    if (rule.rank(kX) == 3 && width % heads != 0)
      return invalid_argument("{} has no whole number per head of {}", rule.describe(kX), heads);
    if (turned > head || (turned == 0 && head % 2 != 0))
      return invalid_argument("{} of {} elements of a head cannot be turned in pairs", turned == 0 ? head : turned,
                              head);
    for (size_t i : {kCos, kSin})
      if (rule.rank(i) > 0)
        NEREID_RETURN_IF_ERROR(rule.has_size(i, -1, (turned == 0 ? head : turned) / 2, "half of what is turned"));
  }
  for (size_t i : {kCos, kSin}) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, rule.has(kPositions) ? 2 : 3));
    if (rule.has(kPositions)) continue;
    NEREID_RETURN_IF_ERROR(rule.agree(kX, 0, i, 0));
    NEREID_RETURN_IF_ERROR(rule.agree(kX, steps, i, 1));
  }
  if (rule.has(kPositions)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kPositions));
    NEREID_RETURN_IF_ERROR(rule.agree(kCos, 0, kSin, 0));
    // One number: the position of the first step of each sample.
    if (rule.shape(kPositions).elements().value_or(0) != 1) {
      NEREID_RETURN_IF_ERROR(rule.has_rank(kPositions, 2));
      NEREID_RETURN_IF_ERROR(rule.agree(kX, 0, kPositions, 0));
      NEREID_RETURN_IF_ERROR(rule.agree(kX, steps, kPositions, 1));
    }
  }
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& view = ctx.inputs[kX];
  Elements<double> x = load<double>(view);
  const Elements<double> cosines = load<double>(ctx.inputs[kCos]);
  const Elements<double> sines = load<double>(ctx.inputs[kSin]);
  const bool flat = view.rank() == 3;
  const int64_t samples = view.sizes[0];
  const int64_t heads = flat ? ctx.attrs.integer("num_heads") : view.sizes[1];
  const int64_t steps = view.sizes[flat ? 1 : 2];
  const int64_t width = flat ? view.sizes[2] / heads : view.sizes[3];
  const int64_t turned =
      ctx.attrs.integer("rotary_embedding_dim") == 0 ? width : ctx.attrs.integer("rotary_embedding_dim");
  const int64_t half = turned / 2;
  const bool interleaved = ctx.attrs.boolean("interleaved");
  Elements<int64_t> positions;
  if (ctx.inputs[kPositions].data != nullptr) positions = load<int64_t>(ctx.inputs[kPositions]);
  if (x.size() == 0) return Status::ok();
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t t = 0; t < steps; ++t) {
      int64_t angles = n * steps + t;  // which row of the caches
      if (positions.size() > 0) {
        const bool all = positions.size() == samples * steps;
        const int64_t given = all ? positions[angles] : positions[0];
        const int64_t rows = ctx.inputs[kCos].sizes[0];
        if (given < 0 || given >= rows || (!all && given + t >= rows))
          return invalid_argument("position {} is past the {} that the caches have", given, rows);
        angles = all ? given : given + t;
      }
      for (int64_t h = 0; h < heads; ++h) {
        double* head = x.data() + (flat ? (n * steps + t) * heads + h : (n * heads + h) * steps + t) * width;
        for (int64_t i = 0; i < half; ++i) {
          double& a = head[interleaved ? 2 * i : i];
          double& b = head[interleaved ? 2 * i + 1 : i + half];
          const double c = cosines[angles * half + i];
          const double s = sines[angles * half + i];
          const double real = c * a - s * b;
          b = s * a + c * b;
          a = real;
        }
      }
    }
  }
  return store<double>(ctx.outputs[0], x);
}

}  // namespace

extern constexpr OpDef kRotaryEmbedding = {.name = "rotary_embedding",
                                           .summary = "pairs (a, b) of each head become (a cos - b sin, a sin + b cos)",
                                           .inputs = kInputs,
                                           .outputs = kOutputs,
                                           .attrs = kAttrs,
                                           .infer = infer,
                                           .evaluate = evaluate,
                                           .cost = cost_per_element<3>};

}  // namespace nereid::ops
