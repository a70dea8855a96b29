// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a Python dict literal with exactly three keys.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace nereid::import::npy {

struct Header {
  DType dtype = DType::f32;
  bool is_swapped = false;  // big endian
  bool columns_first = false;
  std::vector<int64_t> sizes;
};

Result<Header> parse_header(std::string_view text);
// 'f4' for f32: the type's name in NumPy without its byte order; empty for types that .npy cannot hold.
std::string_view numpy_name(DType dtype);

}  // namespace nereid::import::npy
