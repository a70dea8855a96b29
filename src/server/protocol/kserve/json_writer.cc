// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/json_writer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/float_convert.h"

namespace nereid::server::kserve {
namespace {

template <typename T, typename Append>
void append_each(std::string* out, std::span<const std::byte> bytes, Append append) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (at > 0) *out += ',';
    append(value);
  }
}

template <typename T>
void append_integers(std::string* out, std::span<const std::byte> bytes) {
  append_each<T>(out, bytes, [out](T value) {
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    out->append(digits, end);
  });
}

void append_texts(std::string* out, std::span<const std::byte> bytes) {
  for (size_t at = 0; at + 4 <= bytes.size();) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    if (at > 0) *out += ',';
    at += 4;
    length = static_cast<uint32_t>(std::min<size_t>(length, bytes.size() - at));
    append_text(out, {reinterpret_cast<const char*>(bytes.data()) + at, length});
    at += length;
  }
}

}  // namespace

void append_text(std::string* out, std::string_view text) {
  *out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (byte >= 0x20) {
      *out += c;
    } else if (constexpr std::string_view kNamed = "\b\f\n\r\t"; kNamed.find(c) != kNamed.npos) {
      *out += '\\';
      *out += "bfnrt"[kNamed.find(c)];
    } else {
      fmt::format_to(std::back_inserter(*out), "\\u{:04X}", static_cast<unsigned>(byte));
    }
  }
  *out += '"';
}

void append_number(std::string* out, double value) {
  if (std::isnan(value)) {
    *out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *out += value > 0 ? "Infinity" : "-Infinity";
    return;
  }
  if (std::signbit(value)) *out += '-';
  value = std::fabs(value);
  if (value == 0) {
    *out += "0.0";
    return;
  }
  // "d.ddde+XX": its digits and where the point belongs.
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  const std::string_view whole(text, static_cast<size_t>(end - text));
  const size_t mark = whole.find('e');
  std::string digits(whole.substr(0, 1));
  if (mark > 2) digits += whole.substr(2, mark - 2);
  int exponent = 0;
  const bool is_negative = whole[mark + 1] == '-';
  std::from_chars(text + mark + 2, end, exponent);
  const int point = (is_negative ? -exponent : exponent) + 1;  // digits before it
  const int count = static_cast<int>(digits.size());
  if (count <= point && point <= 21) {
    *out += digits;
    out->append(static_cast<size_t>(point - count), '0');
    *out += ".0";
  } else if (0 < point && point <= 21) {
    out->append(digits, 0, static_cast<size_t>(point));
    *out += '.';
    out->append(digits, static_cast<size_t>(point));
  } else if (-6 < point && point <= 0) {
    *out += "0.";
    out->append(static_cast<size_t>(-point), '0');
    *out += digits;
  } else {
    *out += digits[0];
    if (count > 1) {
      *out += '.';
      out->append(digits, 1);
    }
    fmt::format_to(std::back_inserter(*out), "e{}", point - 1);
  }
}

void append_shape(std::string* out, std::span<const int64_t> shape) {
  *out += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) *out += ',';
    *out += std::to_string(shape[i]);
  }
  *out += ']';
}

void append_parameter(std::string* out, const InferParameter& value) {
  if (const bool* boolean = std::get_if<bool>(&value)) {
    *out += *boolean ? "true" : "false";
  } else if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    *out += std::to_string(*integer);
  } else if (const double* number = std::get_if<double>(&value)) {
    append_number(out, *number);
  } else {
    append_text(out, std::get<std::string>(value));
  }
}

void append_elements(std::string* out, const InferTensor& tensor) {
  const std::span<const std::byte> bytes = tensor.bytes;
  switch (tensor.type) {
    case InferType::kBool:
      return append_each<uint8_t>(out, bytes, [out](uint8_t value) { *out += value != 0 ? "true" : "false"; });
    case InferType::kUint8:
      return append_integers<uint8_t>(out, bytes);
    case InferType::kUint16:
      return append_integers<uint16_t>(out, bytes);
    case InferType::kUint32:
      return append_integers<uint32_t>(out, bytes);
    case InferType::kUint64:
      return append_integers<uint64_t>(out, bytes);
    case InferType::kInt8:
      return append_integers<int8_t>(out, bytes);
    case InferType::kInt16:
      return append_integers<int16_t>(out, bytes);
    case InferType::kInt32:
      return append_integers<int32_t>(out, bytes);
    case InferType::kInt64:
      return append_integers<int64_t>(out, bytes);
    case InferType::kFp16:
      return append_each<uint16_t>(out, bytes,
                                   [out](uint16_t v) { append_number(out, static_cast<double>(f16_to_f32(v))); });
    case InferType::kBf16:
      return append_each<uint16_t>(out, bytes,
                                   [out](uint16_t v) { append_number(out, static_cast<double>(bf16_to_f32(v))); });
    case InferType::kFp32:
      return append_each<float>(out, bytes, [out](float v) { append_number(out, static_cast<double>(v)); });
    case InferType::kFp64:
      return append_each<double>(out, bytes, [out](double v) { append_number(out, v); });
    case InferType::kBytes:
      return append_texts(out, bytes);
    case InferType::kInvalid:
    case InferType::kCount:
      break;
  }
}

}  // namespace nereid::server::kserve
