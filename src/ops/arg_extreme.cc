// SPDX-License-Identifier: Apache-2.0
// arg_max and arg_min: where the largest or smallest element stands along one dimension.
#include "ops/reduce.h"
#include "ops/wide.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "index"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "0", "the dimension that is searched; negative counts from the end"},
    {"keepdims", AttrSpec::Kind::kBool, "true", "whether that dimension stays, with size 1"},
    {"select_last_index", AttrSpec::Kind::kBool, "false", "of equal elements the last is named, not the first"}};

DType dtype_of(const InferContext&, size_t) {
  return DType::i64;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const int64_t axis = ctx.attrs.integer("axis");
  NEREID_RETURN_IF_ERROR(rule.has_axis(0, axis));
  if (rule.dim(0, static_cast<int>(axis)) == Dim(0))
    return invalid_argument("dimension {} of {} has no elements to choose from", axis, rule.describe(0));
  NEREID_TRY(const auto reduced, reduced_dimensions(std::span(&axis, 1), rule.rank(0), false));
  return std::vector<TensorType>{{DType::i64, reduced_shape(rule.shape(0), reduced, ctx.attrs.boolean("keepdims"))}};
}

template <bool Max>
Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const AxisSteps steps = axis_steps(x.sizes, ctx.attrs.integer("axis"));
  const bool last = ctx.attrs.boolean("select_last_index");
  return with_wide(x.dtype, [&]<typename T>() {
    const Elements<T> from = load<T>(x);
    Elements<int64_t> out(ctx.outputs[0].elements());
    // Not-a-number counts as the extreme, as in numpy.
    const auto wins = [&](T a, T b) {
      if (b != b) return last && a != a;
      return a != a || (Max ? a > b : a < b) || (last && a == b);
    };
    for (int64_t outer = 0; outer < steps.outer; ++outer) {
      for (int64_t inner = 0; inner < steps.inner; ++inner) {
        const T* row = from.data() + outer * steps.size * steps.inner + inner;
        int64_t best = 0;
        for (int64_t i = 1; i < steps.size; ++i)
          if (wins(row[i * steps.inner], row[best * steps.inner])) best = i;
        out[outer * steps.inner + inner] = best;
      }
    }
    return store<int64_t>(ctx.outputs[0], out);
  });
}

template <bool Max>
constexpr OpDef extreme(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = kAttrs,
          .infer = infer,
          .evaluate = evaluate<Max>,
          .dtype_of = dtype_of};
}

}  // namespace

extern constexpr OpDef kArgMax = extreme<true>("arg_max", "index of the largest element along the axis");
extern constexpr OpDef kArgMin = extreme<false>("arg_min", "index of the smallest element along the axis");

}  // namespace nereid::ops
