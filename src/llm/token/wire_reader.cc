// SPDX-License-Identifier: Apache-2.0
#include "llm/token/wire_reader.h"

namespace nereid::token {

std::optional<uint64_t> WireReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> WireReader::take(uint64_t size) {
  if (size > rest_.size()) return std::nullopt;
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

std::optional<WireReader::Field> WireReader::read_field() {
  const std::optional<uint64_t> key = varint();
  if (!key || *key >> 3 == 0 || *key >> 3 > 0x1FFFFFFF) return std::nullopt;
  Field field{.number = static_cast<uint32_t>(*key >> 3)};
  std::optional<std::string_view> bytes;
  switch (*key & 7) {
    case 0: {
      const std::optional<uint64_t> value = varint();
      if (!value) return std::nullopt;
      field.value = *value;
      return field;
    }
    case 1:
      field.type = Type::kFixed64;
      bytes = take(8);
      break;
    case 2: {
      field.type = Type::kBytes;
      const std::optional<uint64_t> size = varint();
      if (!size) return std::nullopt;
      bytes = take(*size);
      break;
    }
    case 5:
      field.type = Type::kFixed32;
      bytes = take(4);
      break;
    default:  // groups (3, 4) are long gone
      return std::nullopt;
  }
  if (!bytes) return std::nullopt;
  if (field.type == Type::kBytes) {
    field.bytes = *bytes;
  } else {
    std::memcpy(&field.value, bytes->data(), bytes->size());
  }
  return field;
}

std::optional<WireReader::Field> WireReader::next() {
  if (failed_ || rest_.empty()) return std::nullopt;
  std::optional<Field> field = read_field();
  failed_ = !field;
  return field;
}

}  // namespace nereid::token
