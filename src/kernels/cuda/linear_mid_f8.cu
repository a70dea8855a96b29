// SPDX-License-Identifier: Apache-2.0
// Products of 17 to 256 tokens with rows of f8: 64 tokens at a time, for more leave no registers to what f8 becomes.
#include "kernels/cuda/linear_mid_kernel.cuh"

namespace nereid::kernels::cuda {

void linear_mid_f8(const LinearParams& params, int cluster, const Queue& queue) {
  constexpr int64_t kMost = 64;
  for (int64_t first = 0; first < params.tokens; first += kMost) {
    LinearParams part = params;
    part.tokens = params.tokens - first < kMost ? params.tokens - first : kMost;
    part.x = static_cast<const char*>(params.x) + 2 * first * params.x_stride;
    part.y = static_cast<char*>(params.y) + element_bytes(params.y_element) * first * params.y_stride;
    if (params.residual != nullptr) {
      part.residual = static_cast<const char*>(params.residual) + 2 * first * params.residual_stride;
    }
    params.element == Element::kF16 ? linear_mid_of<__half, true>(part, cluster, queue)
                                    : linear_mid_of<__nv_bfloat16, true>(part, cluster, queue);
  }
}

}  // namespace nereid::kernels::cuda
