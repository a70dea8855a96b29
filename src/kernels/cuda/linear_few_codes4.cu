// SPDX-License-Identifier: Apache-2.0
// Few tokens times packed codes of 4 bits.
#include "kernels/cuda/linear_few.cuh"

namespace nereid::kernels::cuda {

void linear_few_codes4(const FewJob& job, const Queue& queue) {
  switch (job.p.weight.group) {
    case 16:
      return linear_few_any<CodesLoader<4, 16>>(job, queue);
    case 32:
      return linear_few_any<CodesLoader<4, 32>>(job, queue);
    case 64:
      return linear_few_any<CodesLoader<4, 64>>(job, queue);
    default:
      return linear_few_any<CodesLoader<4, 128>>(job, queue);
  }
}

}  // namespace nereid::kernels::cuda
