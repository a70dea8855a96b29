// SPDX-License-Identifier: Apache-2.0
// lp_pool: the p-norm of each window.
#include <cmath>

#include "ops/pool.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {kWindowAutoPad,
                               kPoolCeilMode,
                               kWindowDilations,
                               kPoolKernelShape,
                               {"p", AttrSpec::Kind::kFloat, "2.0", "which norm"},
                               kWindowPads,
                               kWindowStrides};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  if (!(ctx.attrs.real("p") > 0)) return invalid_argument("p is {}; it should be positive", ctx.attrs.real("p"));
  NEREID_TRY(Shape shape, pool_shape(ctx));
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(shape)}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  NEREID_TRY(Windows windows, read_pool(ctx.attrs, x.sizes.size() - 2));
  NEREID_RETURN_IF_ERROR(fit_image(windows, x.sizes));
  return with_float(x.dtype, [&]<typename T>() {
    const T p = static_cast<T>(ctx.attrs.real("p"));
    Elements<T> powers = load<T>(x);
    for (T& v : powers) v = std::pow(std::abs(v), p);
    Elements<T> y =
        pool_axes(std::move(powers), x.sizes[0] * x.sizes[1], windows.axes, T(0), [](T a, T b) { return a + b; });
    for (T& v : y) v = std::pow(v, T(1) / p);
    return store<T>(ctx.outputs[0], y);
  });
}

}  // namespace

extern constexpr OpDef kLpPool = {.name = "lp_pool",
                                  .summary = "y = (sum over each window of |x|^p)^(1/p)",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .evaluate = evaluate,
                                  .cost = pool_cost};

}  // namespace nereid::ops
