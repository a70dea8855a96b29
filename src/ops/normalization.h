// SPDX-License-Identifier: Apache-2.0
// Means and variances of groups of elements: the arithmetic that all normalisations share.
#pragma once

#include <cstdint>

namespace nereid::ops {

struct Moments {
  double mean = 0;
  double variance = 0;  // of the population
};

// Of `n` elements `step` apart; zeros if there are none.
Moments moments(const double* x, int64_t n, int64_t step = 1);

}  // namespace nereid::ops
