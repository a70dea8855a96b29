// SPDX-License-Identifier: Apache-2.0
// What a row of a key/value cache (one head at one position) is made of.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace nereid::ops {

// Elements of a row: a head's, and for codes (i8) four bytes more, the f32 that they are multiplied by.
inline int64_t kv_row_elements(DType dtype, int64_t head_dim) {
  return dtype == DType::i8 ? head_dim + static_cast<int64_t>(sizeof(float)) : head_dim;
}

}  // namespace nereid::ops
