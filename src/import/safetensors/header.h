// SPDX-License-Identifier: Apache-2.0
// The JSON header of a safetensors file, checked but not yet joined with the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace nereid::import::safetensors {

struct HeaderTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  uint64_t begin = 0;  // from the data section's start; end - begin is the tensor's size in bytes
  uint64_t end = 0;
};

struct Header {
  std::vector<HeaderTensor> tensors;  // sorted by name
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Every tensor has a known type, sizes whose product fits, and begin + size == end. Offsets against each other and the
// file are the caller's to check.
Result<Header> parse_header(std::string_view json);

}  // namespace nereid::import::safetensors
