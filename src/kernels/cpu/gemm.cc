// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/gemm.h"

namespace nereid::kernels {

int64_t gemm_scratch_bytes(const GemmParams&, int) {
  return 0;
}

void gemm_pack(const GemmPackParams& p) {
  for (int64_t i = 0; i < p.batch_outer * p.batch; ++i) {
    const float* b = p.b + i / p.batch * p.b_outer_stride + i % p.batch * p.b_batch_stride;
    float* packed = p.packed + i * gemm_packed_elements(p.k, p.n);
    for (int64_t panel = 0; panel < gemm_panels(p.n); ++panel)
      for (int64_t k = 0; k < p.k; ++k)
        for (int64_t j = 0; j < kPanelColumns; ++j) {
          const int64_t n = panel * kPanelColumns + j;
          const float* element = p.transposed ? b + n * p.b_stride + k : b + k * p.b_stride + n;
          *packed++ = n < p.n ? *element : 0.0f;
        }
  }
}

void gemm_unpack(const GemmUnpackParams& p) {
  const float* packed = p.packed;
  for (int64_t panel = 0; panel < gemm_panels(p.n); ++panel)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t j = 0; j < kPanelColumns; ++j, ++packed) {
        const int64_t n = panel * kPanelColumns + j;
        if (n < p.n) (p.transposed ? p.b[n * p.b_stride + k] : p.b[k * p.b_stride + n]) = *packed;
      }
}

}  // namespace nereid::kernels
