// SPDX-License-Identifier: Apache-2.0
// Products of 17 to 128 tokens with rows of two-byte floats, and which products are among them.
#include "kernels/cuda/linear_mid_kernel.cuh"

namespace nereid::kernels::cuda {

bool can_linear_mid(const LinearParams& p) {
  const bool is_gated = p.weight_up.data != nullptr, is_f8 = p.weight.codes == Codes::kF8E4M3;
  if (p.tokens > (is_f8 ? kMidTokensF8 : kMidTokens) || !can_map_tiles() || is_coded(p.weight.codes)) return false;
  if (p.weight.rows * p.weight.cols * (is_gated ? 2 : 1) < kSmallWeights) return false;
  // Above 64 tokens x would be read more often than the weights of tiles that no cluster shares: linear_many is faster,
  // where it need not unpack.
  return p.tokens <= 64 || is_f8 || is_gated || has_low_tiles(p.weight);
}

void linear_mid(const LinearParams& params, int cluster, const Queue& queue) {
  if (params.weight.codes == Codes::kF8E4M3) return linear_mid_f8(params, cluster, queue);
  params.element == Element::kF16 ? linear_mid_of<__half, false>(params, cluster, queue)
                                  : linear_mid_of<__nv_bfloat16, false>(params, cluster, queue);
}

}  // namespace nereid::kernels::cuda
