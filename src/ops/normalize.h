// SPDX-License-Identifier: Apache-2.0
// Root-mean-square normalisation of one row, shared by rms_norm and the ops that have it built in.
#pragma once

#include <span>

namespace nereid::ops {

// x /= sqrt(mean(x^2) + eps), then x *= weight unless that is empty (Zhang and Sennrich 2019).
void rms_normalize(std::span<float> x, std::span<const float> weight, double eps);

}  // namespace nereid::ops
