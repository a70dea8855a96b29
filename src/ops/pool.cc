// SPDX-License-Identifier: Apache-2.0
// What the pooling ops share.
#include "ops/pool.h"

namespace nereid::ops {

Result<Windows> read_pool(const Attrs& attrs, size_t axes) {
  const std::vector<int64_t>& kernel = attrs.integers("kernel_shape");
  if (kernel.size() != axes)
    return invalid_argument("kernel_shape has {} numbers and should have {}", kernel.size(), axes);
  NEREID_TRY(Windows windows, read_windows(attrs, kernel));
  for (const WindowAxis& a : windows.axes)
    if (a.begin >= a.extent() || a.end >= a.extent())
      return invalid_argument("the pads {} and {} should be smaller than the window, which spans {}", a.begin, a.end,
                              a.extent());
  return windows;
}

Result<Shape> pool_shape(const InferContext& ctx) {
  const TensorType& x = *ctx.inputs[0];
  NEREID_RETURN_IF_ERROR(is_image(x, "x"));
  NEREID_TRY(const Windows windows, read_pool(ctx.attrs, static_cast<size_t>(x.shape.rank() - 2)));
  return fit_shape(windows, x.shape);
}

Cost pool_cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  cost.flops = elements_of(outputs[0]);
  for (int64_t k : ctx.attrs.integers("kernel_shape")) cost.flops *= static_cast<double>(k);
  return cost;
}

}  // namespace nereid::ops
