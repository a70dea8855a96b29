// SPDX-License-Identifier: Apache-2.0
// Protocol-buffer wire format: the fields of one message, one after the other, out of bytes that may be hostile.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace nereid::token {

class WireReader {
 public:
  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  struct Field {
    uint32_t number = 0;
    Type type = Type::kVarint;
    uint64_t value = 0;      // kVarint, kFixed64, kFixed32
    std::string_view bytes;  // kBytes: a string, or a message of its own
    float as_float() const {
      const auto bits = static_cast<uint32_t>(value);
      float f;
      std::memcpy(&f, &bits, sizeof f);
      return f;
    }
  };

  explicit WireReader(std::string_view message) : rest_(message) {}

  // The next field; nullopt at the end, or where the bytes are no message: then failed() says so.
  std::optional<Field> next();
  bool failed() const { return failed_; }

 private:
  std::optional<uint64_t> varint();
  std::optional<std::string_view> take(uint64_t size);
  std::optional<Field> read_field();

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace nereid::token
