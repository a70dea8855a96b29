// SPDX-License-Identifier: Apache-2.0
// Which product takes a number of tokens and a kind of weight.
#include "kernels/cuda/linear.h"
#include "kernels/cuda/linear_few.cuh"

namespace nereid::kernels::cuda {

void linear_few_as(const LinearParams& params, FewShape shape, bool prefetch, const Queue& queue) {
  if (params.tokens == 0) return;
  const FewJob job = {
      .p = params, .shape = shape, .prefetch_blocks = prefetch ? 2 * device_traits().multiprocessors : 0};
  switch (params.weight.codes) {
    case Codes::kF16:
    case Codes::kBF16:
      return linear_few_halves(job, queue);
    case Codes::kF8E4M3:
      return linear_few_f8(job, queue);
    case Codes::kCode4:
      return linear_few_codes4(job, queue);
    case Codes::kCode8:
      return linear_few_codes8(job, queue);
  }
}

void linear_few(const LinearParams& params, const Queue& queue) {
  linear_few_as(params, FewShape::kAuto, false, queue);
}

// Until linear_many is there, tokens go by 64.
void linear(const LinearParams& params, const Queue& queue) {
  const int64_t y_bytes = element_bytes(params.y_element);
  for (int64_t first = 0; first < params.tokens; first += kFewTokens) {
    LinearParams part = params;
    part.tokens = params.tokens - first < kFewTokens ? params.tokens - first : kFewTokens;
    part.x = static_cast<const char*>(params.x) + 2 * first * params.x_stride;
    part.y = static_cast<char*>(params.y) + y_bytes * first * params.y_stride;
    if (params.residual != nullptr) {
      part.residual = static_cast<const char*>(params.residual) + 2 * first * params.residual_stride;
    }
    linear_few(part, queue);
  }
}

int64_t linear_workspace_bytes(const Weight&, bool, int64_t) {
  return 0;
}

}  // namespace nereid::kernels::cuda
