// SPDX-License-Identifier: Apache-2.0
// Element types of tensors as the open inference protocol names them, and as model configurations do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::server {

// The numbers are those of a model configuration's data_type.
enum class InferType : uint8_t {
  kInvalid = 0,
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kFp32,
  kFp64,
  kBytes,  // each element: its length in 4 bytes, little end first, and that many bytes
  kBf16,
  kCount,
};

struct InferTypeInfo {
  InferType type;
  std::string_view name;         // "FP32", "BYTES": in requests
  std::string_view config_name;  // "TYPE_FP32", "TYPE_STRING": in configurations
  uint8_t bytes;                 // of an element; 0 for kBytes and kInvalid
};

const InferTypeInfo& infer_type_info(InferType type);
inline std::string_view infer_type_name(InferType type) {
  return infer_type_info(type).name;
}
// By the name that requests use, in upper case; nothing for others.
std::optional<InferType> infer_type_from_name(std::string_view name);

}  // namespace nereid::server
