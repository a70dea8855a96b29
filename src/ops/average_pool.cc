// SPDX-License-Identifier: Apache-2.0
// average_pool: the mean of each window.
#include "ops/pool.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    kWindowAutoPad,
    kPoolCeilMode,
    {"count_include_pad", AttrSpec::Kind::kBool, "false", "whether padding counts as zeros; else it is left out"},
    kWindowDilations,
    kPoolKernelShape,
    kWindowPads,
    kWindowStrides};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_TRY(Shape shape, pool_shape(ctx));
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(shape)}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  NEREID_TRY(Windows windows, read_pool(ctx.attrs, x.sizes.size() - 2));
  NEREID_RETURN_IF_ERROR(fit_image(windows, x.sizes));
  const bool with_padding = ctx.attrs.boolean("count_include_pad");
  return with_float(x.dtype, [&]<typename T>() {
    Elements<T> y = pool_axes(load<T>(x), x.sizes[0] * x.sizes[1], windows.axes, T(0), [](T a, T b) { return a + b; });
    Positions position({ctx.outputs[0].sizes.begin() + 2, ctx.outputs[0].sizes.end()});
    for (T& sum : y) {
      T count = 1;
      for (size_t d = 0; d < windows.axes.size(); ++d) {
        const WindowAxis& a = windows.axes[d];
        count *= static_cast<T>((with_padding ? a.padded_taps(position[d]) : a.taps(position[d])).count());
      }
      sum = count == T(0) ? T(0) : sum / count;
      position.next();
    }
    return store<T>(ctx.outputs[0], y);
  });
}

}  // namespace

extern constexpr OpDef kAveragePool = {.name = "average_pool",
                                       .summary = "y = the mean of each window",
                                       .inputs = kInputs,
                                       .outputs = kOutputs,
                                       .attrs = kAttrs,
                                       .infer = infer,
                                       .evaluate = evaluate,
                                       .cost = pool_cost};

}  // namespace nereid::ops
