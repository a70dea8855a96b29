// SPDX-License-Identifier: Apache-2.0
#include "import/gguf/read_metadata.h"

#include <algorithm>
#include <limits>
#include <string>

#include "import/gguf/types.h"

namespace nereid::import::gguf {
namespace {

// A key's length and one byte of it, the value's type, one byte of value.
constexpr uint64_t kMinPairBytes = 8 + 1 + 4 + 1;
// Real files have less than a hundred; looking a key up among many millions would let a file keep us busy for hours.
constexpr uint64_t kMaxPairs = 65536;
// A key in a sentence: a hostile file may hold one of a gigabyte.
std::string quoted(std::string_view key) {
  constexpr size_t kShown = 80;
  return key.size() <= kShown ? fmt::format("'{}'", key)
                              : fmt::format("'{}...' ({} bytes)", key.substr(0, kShown), key.size());
}

Result<int64_t> as_int64(uint64_t value) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return invalid_argument("the unsigned value {} is over 2^63 - 1, the largest that is supported", value);
  return static_cast<int64_t>(value);
}

Result<bool> as_bool(uint8_t value) {
  if (value > 1) return invalid_argument("a boolean is stored as {}; expected 0 or 1", value);
  return value == 1;
}

template <typename T>
Result<MetaValue> read_integer(Cursor& cursor, std::string_view what) {
  NEREID_TRY(const T value, cursor.read<T>(what));
  return MetaValue(static_cast<int64_t>(value));
}

template <typename T, typename Wide>
std::vector<Wide> read_numbers(Cursor& cursor, uint64_t count) {
  std::vector<Wide> values(count);
  for (Wide& v : values) v = static_cast<Wide>(cursor.read_unchecked<T>());
  return values;
}

Result<MetaValue> read_array(Cursor& cursor, std::string_view what) {
  NEREID_TRY(const uint32_t type_number, cursor.read<uint32_t>(what));
  NEREID_TRY(const uint64_t count, cursor.read<uint64_t>(what));
  const auto type = static_cast<ValueType>(type_number);
  if (type == ValueType::kArray)
    return unsupported("{} is an array of arrays; only arrays of numbers, booleans and strings are supported", what);
  const uint32_t item_bytes = min_bytes(type);
  if (item_bytes == 0)
    return invalid_argument("{} is an array of type {}; expected a type from 0 to 12", what, type_number);
  if (count > cursor.remaining() / item_bytes)
    return invalid_argument("{} claims {} items of at least {} bytes, but only {} bytes of the file are left", what,
                            count, item_bytes, cursor.remaining());
  switch (type) {
    case ValueType::kUint8:
      return MetaValue(read_numbers<uint8_t, int64_t>(cursor, count));
    case ValueType::kInt8:
      return MetaValue(read_numbers<int8_t, int64_t>(cursor, count));
    case ValueType::kUint16:
      return MetaValue(read_numbers<uint16_t, int64_t>(cursor, count));
    case ValueType::kInt16:
      return MetaValue(read_numbers<int16_t, int64_t>(cursor, count));
    case ValueType::kUint32:
      return MetaValue(read_numbers<uint32_t, int64_t>(cursor, count));
    case ValueType::kInt32:
      return MetaValue(read_numbers<int32_t, int64_t>(cursor, count));
    case ValueType::kInt64:
      return MetaValue(read_numbers<int64_t, int64_t>(cursor, count));
    case ValueType::kFloat32:
      return MetaValue(read_numbers<float, double>(cursor, count));
    case ValueType::kFloat64:
      return MetaValue(read_numbers<double, double>(cursor, count));
    case ValueType::kUint64: {
      std::vector<int64_t> values(count);
      for (int64_t& v : values) {
        NEREID_TRY(v, as_int64(cursor.read_unchecked<uint64_t>()));
      }
      return MetaValue(std::move(values));
    }
    case ValueType::kBool: {
      std::vector<int64_t> values(count);
      for (int64_t& v : values) {
        NEREID_TRY(v, as_bool(cursor.read_unchecked<uint8_t>()));
      }
      return MetaValue(std::move(values));
    }
    default:
      break;
  }
  std::vector<std::string_view> strings(count);
  for (std::string_view& s : strings) {
    NEREID_TRY(s, cursor.read_string(what));
  }
  return MetaValue(std::move(strings));
}

Result<MetaValue> read_value(Cursor& cursor, uint32_t type_number, std::string_view what) {
  switch (static_cast<ValueType>(type_number)) {
    case ValueType::kUint8:
      return read_integer<uint8_t>(cursor, what);
    case ValueType::kInt8:
      return read_integer<int8_t>(cursor, what);
    case ValueType::kUint16:
      return read_integer<uint16_t>(cursor, what);
    case ValueType::kInt16:
      return read_integer<int16_t>(cursor, what);
    case ValueType::kUint32:
      return read_integer<uint32_t>(cursor, what);
    case ValueType::kInt32:
      return read_integer<int32_t>(cursor, what);
    case ValueType::kInt64:
      return read_integer<int64_t>(cursor, what);
    case ValueType::kUint64: {
      NEREID_TRY(const uint64_t raw, cursor.read<uint64_t>(what));
      NEREID_TRY(const int64_t value, as_int64(raw).with(what));
      return MetaValue(value);
    }
    case ValueType::kFloat32: {
      NEREID_TRY(const float value, cursor.read<float>(what));
      return MetaValue(static_cast<double>(value));
    }
    case ValueType::kFloat64: {
      NEREID_TRY(const double value, cursor.read<double>(what));
      return MetaValue(value);
    }
    case ValueType::kBool: {
      NEREID_TRY(const uint8_t raw, cursor.read<uint8_t>(what));
      NEREID_TRY(const bool value, as_bool(raw).with(what));
      return MetaValue(value);
    }
    case ValueType::kString: {
      NEREID_TRY(const std::string_view value, cursor.read_string(what));
      return MetaValue(value);
    }
    case ValueType::kArray:
      return read_array(cursor, what);
  }
  return invalid_argument("{} has the value type {}; expected a type from 0 to 12", what, type_number);
}

}  // namespace

Result<Metadata> read_metadata(Cursor& cursor, uint64_t count) {
  if (count > cursor.remaining() / kMinPairBytes)
    return invalid_argument(
        "the header claims {} metadata pairs of at least {} bytes, but only {} bytes of the file are left", count,
        kMinPairBytes, cursor.remaining());
  if (count > kMaxPairs)
    return invalid_argument("the header claims {} metadata pairs; expected at most {}", count, kMaxPairs);
  Metadata metadata;
  for (uint64_t i = 0; i < count; ++i) {
    NEREID_TRY(const std::string_view key,
               cursor.read_string(fmt::format("the key of metadata pair {} of {}", i + 1, count)));
    if (key.empty()) return invalid_argument("the key of metadata pair {} of {} is empty", i + 1, count);
    const std::string what = "the metadata value " + quoted(key);
    NEREID_TRY(const uint32_t type, cursor.read<uint32_t>(what));
    NEREID_TRY(MetaValue value, read_value(cursor, type, what));
    NEREID_RETURN_IF_ERROR(metadata.add(key, std::move(value)));
  }
  return metadata;
}

}  // namespace nereid::import::gguf
