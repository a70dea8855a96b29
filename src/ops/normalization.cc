// SPDX-License-Identifier: Apache-2.0
// Means and variances in two passes.
#include "ops/normalization.h"

namespace nereid::ops {

Moments moments(const double* x, int64_t n, int64_t step) {
  Moments m;
  if (n == 0) return m;
  for (int64_t i = 0; i < n; ++i) m.mean += x[i * step];
  m.mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) m.variance += (x[i * step] - m.mean) * (x[i * step] - m.mean);
  m.variance /= static_cast<double>(n);
  return m;
}

}  // namespace nereid::ops
