// SPDX-License-Identifier: Apache-2.0
#include "server/trace/tensor_text.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "base/float_convert.h"

namespace nereid::server::trace {
namespace {

// A trace is for people who read it; what no one reads to the end is cut.
constexpr size_t kMostElements = 1 << 16;

template <typename T, typename Print>
void append_each(std::string* out, std::span<const std::byte> bytes, const Print& print) {
  const size_t count = std::min(bytes.size() / sizeof(T), kMostElements);
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    if (i > 0) *out += ',';
    print(value);
  }
}

template <typename T>
void append_numbers(std::string* out, std::span<const std::byte> bytes) {
  append_each<T>(out, bytes, [out](T value) { fmt::format_to(std::back_inserter(*out), "{}", +value); });
}

void append_texts(std::string* out, std::span<const std::byte> bytes) {
  for (size_t at = 0, n = 0; at + 4 <= bytes.size() && n < kMostElements; ++n) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    if (length > bytes.size() - at) return;
    if (n > 0) *out += ',';
    *out += '"';
    for (const char c : std::string_view(reinterpret_cast<const char*>(bytes.data() + at), length)) {
      if (c == '"' || c == '\\') *out += '\\';
      *out += c;
    }
    *out += '"';
    at += length;
  }
}

void append_data(std::string* out, const InferTensor& tensor) {
  const auto bytes = tensor.bytes;
  switch (tensor.type) {
    case InferType::kBool:
    case InferType::kUint8:
      return append_numbers<uint8_t>(out, bytes);
    case InferType::kUint16:
      return append_numbers<uint16_t>(out, bytes);
    case InferType::kUint32:
      return append_numbers<uint32_t>(out, bytes);
    case InferType::kUint64:
      return append_numbers<uint64_t>(out, bytes);
    case InferType::kInt8:
      return append_numbers<int8_t>(out, bytes);
    case InferType::kInt16:
      return append_numbers<int16_t>(out, bytes);
    case InferType::kInt32:
      return append_numbers<int32_t>(out, bytes);
    case InferType::kInt64:
      return append_numbers<int64_t>(out, bytes);
    case InferType::kFp32:
      return append_each<float>(
          out, bytes, [out](float v) { fmt::format_to(std::back_inserter(*out), "{:.6g}", static_cast<double>(v)); });
    case InferType::kFp64:
      return append_each<double>(out, bytes,
                                 [out](double v) { fmt::format_to(std::back_inserter(*out), "{:.6g}", v); });
    case InferType::kFp16:
      return append_each<uint16_t>(out, bytes, [out](uint16_t v) {
        fmt::format_to(std::back_inserter(*out), "{:.6g}", static_cast<double>(f16_to_f32(v)));
      });
    case InferType::kBf16:
      return append_each<uint16_t>(out, bytes, [out](uint16_t v) {
        fmt::format_to(std::back_inserter(*out), "{:.6g}", static_cast<double>(bf16_to_f32(v)));
      });
    case InferType::kBytes:
      return append_texts(out, bytes);
    case InferType::kInvalid:
    case InferType::kCount:
      return;
  }
}

}  // namespace

TracedTensor describe(TraceTensor where, const InferTensor& tensor) {
  TracedTensor out{.where = where,
                   .name = tensor.name,
                   .datatype = std::string(infer_type_name(tensor.type)),
                   .shape = {},
                   .data = {}};
  for (const int64_t size : tensor.shape) out.shape += (out.shape.empty() ? "" : ",") + std::to_string(size);
  append_data(&out.data, tensor);
  return out;
}

}  // namespace nereid::server::trace
