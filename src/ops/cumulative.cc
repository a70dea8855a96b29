// SPDX-License-Identifier: Apache-2.0
// cum_sum and cum_prod: running sums and products along one dimension.
#include "ops/shape_rule.h"
#include "ops/wide.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kAxis };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "axis"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"exclusive", AttrSpec::Kind::kBool, "false", "an element's own value is left out of its sum"},
    {"reverse", AttrSpec::Kind::kBool, "false", "from the last element to the first"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_index(kAxis));
  if (rule.shape(kAxis).elements().value_or(1) != 1)
    return invalid_argument("{} should be one number", rule.describe(kAxis));
  if (const auto axis = known_integers(ctx, kAxis)) NEREID_RETURN_IF_ERROR(rule.has_axis(kX, (*axis)[0]));
  return std::vector<TensorType>{rule.type(kX)};
}

template <bool Product>
Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const AxisSteps steps = axis_steps(x.sizes, load<int64_t>(ctx.inputs[kAxis])[0]);
  const bool exclusive = ctx.attrs.boolean("exclusive");
  const bool reverse = ctx.attrs.boolean("reverse");
  return with_wide(x.dtype, [&]<typename T>() {
    Elements<T> v = load<T>(x);
    for (int64_t outer = 0; outer < steps.outer; ++outer) {
      for (int64_t inner = 0; inner < steps.inner; ++inner) {
        T* row = v.data() + outer * steps.size * steps.inner + inner;
        T running = Product ? 1 : 0;
        for (int64_t i = 0; i < steps.size; ++i) {
          T& at = row[(reverse ? steps.size - 1 - i : i) * steps.inner];
          const T next = Product ? wide_multiply(running, at) : wide_add(running, at);
          at = exclusive ? running : next;
          running = next;
        }
      }
    }
    return store<T>(ctx.outputs[0], v);
  });
}

template <bool Product>
constexpr OpDef cumulative(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = kAttrs,
          .infer = infer,
          .evaluate = evaluate<Product>,
          .cost = cost_per_element<1>};
}

}  // namespace

extern constexpr OpDef kCumProd = cumulative<true>("cum_prod", "y[i] = x[0] * ... * x[i] along the axis");
extern constexpr OpDef kCumSum = cumulative<false>("cum_sum", "y[i] = x[0] + ... + x[i] along the axis");

}  // namespace nereid::ops
