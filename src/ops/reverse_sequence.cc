// SPDX-License-Identifier: Apache-2.0
// reverse_sequence: the first steps of each sequence of a batch in reverse order, the others as they are.
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kLengths };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "sequence_lens"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"batch_axis", AttrSpec::Kind::kInt, "1", "0 or 1: the dimension of the sequences"},
                               {"time_axis", AttrSpec::Kind::kInt, "0", "1 or 0: the dimension of their steps"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 2));
  NEREID_RETURN_IF_ERROR(rule.is_index(kLengths));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kLengths, 1));
  const int64_t batch = ctx.attrs.integer("batch_axis");
  const int64_t time = ctx.attrs.integer("time_axis");
  if ((batch != 0 || time != 1) && (batch != 1 || time != 0))
    return invalid_argument("batch_axis and time_axis are {} and {} and should be 0 and 1 or 1 and 0", batch, time);
  NEREID_RETURN_IF_ERROR(rule.agree(kX, static_cast<int>(batch), kLengths, 0));
  return std::vector<TensorType>{rule.type(kX)};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  if (x.elements() == 0) return Status::ok();
  const Elements<int64_t> lengths = load<int64_t>(ctx.inputs[kLengths]);
  const bool time_first = ctx.attrs.integer("time_axis") == 0;
  const int64_t steps = x.sizes[time_first ? 0 : 1];
  for (int64_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] < 0 || lengths[i] > steps)
      return invalid_argument("sequence_lens[{}] is {}, but a sequence has {} steps", i, lengths[i], steps);
  const int64_t inner = x.elements() / (x.sizes[0] * x.sizes[1]);
  for (int64_t i = 0; i < x.sizes[0]; ++i)
    for (int64_t j = 0; j < x.sizes[1]; ++j) {
      const int64_t length = lengths[time_first ? j : i];
      int64_t from[] = {i, j};
      int64_t& step = from[time_first ? 0 : 1];
      if (step < length) step = length - 1 - step;
      copy_elements(ctx.outputs[0], (i * x.sizes[1] + j) * inner, x, (from[0] * x.sizes[1] + from[1]) * inner, inner);
    }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kReverseSequence = {.name = "reverse_sequence",
                                           .summary = "the first sequence_lens[b] steps of sequence b in reverse order",
                                           .inputs = kInputs,
                                           .outputs = kOutputs,
                                           .attrs = kAttrs,
                                           .infer = infer,
                                           .evaluate = evaluate,
                                           .cost = cost_per_element<0>};

}  // namespace nereid::ops
