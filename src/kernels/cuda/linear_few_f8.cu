// SPDX-License-Identifier: Apache-2.0
// Few tokens times rows of f8e4m3.
#include "kernels/cuda/linear_few.cuh"

namespace nereid::kernels::cuda {

void linear_few_f8(const FewJob& job, const Queue& queue) {
  linear_few_any<F8Loader>(job, queue);
}

}  // namespace nereid::kernels::cuda
