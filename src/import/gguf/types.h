// SPDX-License-Identifier: Apache-2.0
// The numbers a GGUF file uses for its tensor types and metadata value types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace nereid::import::gguf {

// A tensor type as the file numbers it. `dtype` is empty for types that exist elsewhere but that Nereid cannot read.
struct TensorType {
  uint32_t number;
  std::string_view name;  // as model cards write it: "Q4_K", "IQ2_XXS"
  std::optional<DType> dtype;
};

// The row of a type number, or nullptr for a number nobody has given out.
const TensorType* find_tensor_type(uint32_t number);
// "F32, F16, Q4_0, ...": what can be read, for error sentences.
std::string supported_tensor_types();

// Metadata value types, in the file's numbering.
enum class ValueType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// The least bytes one value takes in a file (a string: its length; an array: its type and count); 0 for an unknown
// type.
uint32_t min_bytes(ValueType type);

}  // namespace nereid::import::gguf
