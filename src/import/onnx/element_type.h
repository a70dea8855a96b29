// SPDX-License-Identifier: Apache-2.0
// The format's numbers for element types.
#pragma once

#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "base/status.h"

namespace nereid::import::onnx {

// kUnsupported names the number (and the type, if we know which it is).
Result<DType> dtype_of_number(int32_t number);
// Nothing for block formats.
std::optional<int32_t> number_of_dtype(DType dtype);

}  // namespace nereid::import::onnx
