// SPDX-License-Identifier: Apache-2.0
// The body of a chunked message (RFC 9112, section 7.1), byte by byte and strictly: what two readers could read
// differently is no body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::server::net {

class ChunkDecoder {
 public:
  enum class State : uint8_t {
    kSize,
    kExtension,
    kSizeEnd,
    kData,
    kDataEnd,
    kDataEndLf,
    kLine,
    kLineLf,
    kDone,
    kBad,
    kTooLong
  };

  explicit ChunkDecoder(int64_t most_bytes) : left_in_all_(most_bytes) {}

  // Appends to `body` what chunks hold. Returns how many bytes were taken: all, but for what comes after the end.
  size_t feed(std::string_view bytes, std::string* body);
  State state() const { return state_; }
  bool is_over() const { return state_ >= State::kDone; }

 private:
  void take(char c);
  static constexpr int kMaxDigits = 15;
  static constexpr int kMaxWords = 8192;  // bytes of extensions and trailers, which nobody reads

  State state_ = State::kSize;
  int64_t left_in_all_;
  int64_t size_ = 0;  // of the chunk: while it is read, then what is left of it
  int digits_ = 0, words_ = 0;
  bool is_line_empty_ = true;
};

}  // namespace nereid::server::net
