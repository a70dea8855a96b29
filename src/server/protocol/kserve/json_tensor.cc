// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/json_tensor.h"

#include <cmath>
#include <utility>

#include "base/float_convert.h"

namespace nereid::server::kserve {
namespace {

template <typename T>
void append_raw(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Triton cuts such a number off, or makes it infinite, and computes with what is left.
template <typename T>
Status out_of_range(T number, InferType type) {
  return invalid_argument("Unable to parse 'data': {} is no {}", number, infer_type_name(type));
}

// One element.
Status append_element(std::string* out, const JsonValue& value, InferType type) {
  const auto as_signed = [&]<typename T>(T) -> Status {
    const std::optional<int64_t> number = value.as_int();
    if (!number) return wrong_kind("data", "non-signed-integer", "signed-integer");
    if (!std::in_range<T>(*number)) return out_of_range(*number, type);
    append_raw(out, static_cast<T>(*number));
    return Status::ok();
  };
  const auto as_unsigned = [&]<typename T>(T) -> Status {
    const std::optional<uint64_t> number = value.as_uint();
    if (!number) return wrong_kind("data", "non-unsigned-integer", "unsigned-integer");
    if (!std::in_range<T>(*number)) return out_of_range(*number, type);
    append_raw(out, static_cast<T>(*number));
    return Status::ok();
  };
  switch (type) {
    case InferType::kBool:
      if (!value.is_bool()) return wrong_kind("data", "non-boolean", "boolean");
      append_raw(out, static_cast<uint8_t>(value.boolean()));
      return Status::ok();
    case InferType::kUint8:
      return as_unsigned(uint8_t{});
    case InferType::kUint16:
      return as_unsigned(uint16_t{});
    case InferType::kUint32:
      return as_unsigned(uint32_t{});
    case InferType::kUint64:
      return as_unsigned(uint64_t{});
    case InferType::kInt8:
      return as_signed(int8_t{});
    case InferType::kInt16:
      return as_signed(int16_t{});
    case InferType::kInt32:
      return as_signed(int32_t{});
    case InferType::kInt64:
      return as_signed(int64_t{});
    case InferType::kBytes:
      if (!value.is_string())
        return internal("Unable to parse JSON bytes array: attempt to access JSON non-string as string");
      append_raw(out, static_cast<uint32_t>(value.text().size()));
      out->append(value.text());
      return Status::ok();
    case InferType::kFp16:
    case InferType::kBf16:
    case InferType::kFp32:
    case InferType::kFp64:
      break;
    case InferType::kInvalid:
    case InferType::kCount:
      return internal("Unable to parse 'data': its datatype is not known");
  }
  if (!value.is_number()) return wrong_kind("data", "non-number", "double");
  const double number = value.number();
  if (type == InferType::kFp64) {
    append_raw(out, number);
    return Status::ok();
  }
  const float narrow = static_cast<float>(number);
  float back = narrow;  // as the type has it
  if (type == InferType::kFp32) {
    append_raw(out, narrow);
  } else if (type == InferType::kFp16) {
    const uint16_t half = f32_to_f16(narrow);
    back = f16_to_f32(half);
    append_raw(out, half);
  } else {
    const uint16_t half = f32_to_bf16(narrow);
    back = bf16_to_f32(half);
    append_raw(out, half);
  }
  // Infinity may be asked for by its name.
  if (std::isinf(back) && std::isfinite(number)) return out_of_range(number, type);
  return Status::ok();
}

int64_t count_elements(const JsonValue& array) {
  int64_t count = 0;
  for (std::optional<JsonValue> one = array.first(); one; one = one->next(array))
    count += one->is_array() ? count_elements(*one) : 1;
  return count;
}

Status append_all(std::string* out, const JsonValue& array, InferType type) {
  for (std::optional<JsonValue> one = array.first(); one; one = one->next(array))
    NEREID_RETURN_IF_ERROR(one->is_array() ? append_all(out, *one, type) : append_element(out, *one, type));
  return Status::ok();
}

}  // namespace

Result<std::string> read_elements(const JsonValue& data, InferType type, int64_t elements) {
  if (!data.is_array()) return wrong_kind("data", "non-array", "array");
  // What the shape asks for is only believed once as much is there.
  if (const int64_t count = count_elements(data); count != elements)
    return internal("Unable to parse 'data': Shape does not match true shape of 'data' field");
  std::string bytes;
  bytes.reserve(static_cast<size_t>(elements) * infer_type_info(type).bytes);
  NEREID_RETURN_IF_ERROR(append_all(&bytes, data, type));
  return bytes;
}

Result<std::string> read_values(const JsonValue& value, InferType type, int64_t* elements) {
  std::string bytes;
  if (!value.is_array()) {
    *elements = 1;
    NEREID_RETURN_IF_ERROR(append_element(&bytes, value, type));
    return bytes;
  }
  *elements = count_elements(value);
  NEREID_RETURN_IF_ERROR(append_all(&bytes, value, type));
  return bytes;
}

}  // namespace nereid::server::kserve
