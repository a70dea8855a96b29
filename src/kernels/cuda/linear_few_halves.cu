// SPDX-License-Identifier: Apache-2.0
// Few tokens times rows of two-byte floats.
#include "kernels/cuda/linear_few.cuh"

namespace nereid::kernels::cuda {

void linear_few_halves(const FewJob& job, const Queue& queue) {
  linear_few_any<HalvesLoader>(job, queue);
}

}  // namespace nereid::kernels::cuda
