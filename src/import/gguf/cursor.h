// SPDX-License-Identifier: Apache-2.0
// Reads little-endian values one after the other from a span and never past its end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/status.h"

namespace nereid::import::gguf {

static_assert(std::endian::native == std::endian::little, "GGUF values are copied as they stand in the file");

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  // The next sizeof(T) bytes as a T; `what` names it in the error's sentence.
  template <typename T>
  Result<T> read(std::string_view what) {
    NEREID_RETURN_IF_ERROR(need(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  // A 64-bit length and that many bytes, as a view into the span.
  Result<std::string_view> read_string(std::string_view what) {
    NEREID_TRY(const uint64_t length, read<uint64_t>(what));
    NEREID_RETURN_IF_ERROR(need(length, what));
    return std::string_view(reinterpret_cast<const char*>(take(length)), length);
  }

  // `count` values that follow one another; the caller has checked the count against remaining().
  template <typename T>
  T read_unchecked() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }

 private:
  Status need(uint64_t bytes, std::string_view what) const {
    if (bytes <= remaining()) return {};
    return invalid_argument("the file ends inside {}: at byte {} it needs {} more bytes and {} are left", what,
                            position_, bytes, remaining());
  }
  const std::byte* take(size_t bytes) {
    NEREID_DCHECK(bytes <= remaining());
    const std::byte* at = bytes_.data() + position_;
    position_ += bytes;
    return at;
  }

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

}  // namespace nereid::import::gguf
