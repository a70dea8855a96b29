// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding of one head (Su et al. 2021), shared by rope and attention.
#pragma once

#include <cstdint>
#include <span>

namespace nereid::ops {

// Turns pair i of the head's first 2 * inv_freq.size() elements by position * inv_freq[i]; the rest stays.
// Pairs are (i, i + n) with n = inv_freq.size(), or (2i, 2i + 1) if interleaved. `scale` multiplies sine and cosine.
void rotate_head(std::span<float> head, int64_t position, std::span<const float> inv_freq, bool interleaved,
                 double scale);

}  // namespace nereid::ops
