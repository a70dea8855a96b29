// SPDX-License-Identifier: Apache-2.0
#include "server/net/chunk_decoder.h"

#include <algorithm>

#include "server/net/ascii.h"

namespace nereid::server::net {
namespace {

bool is_text(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace

size_t ChunkDecoder::feed(std::string_view bytes, std::string* body) {
  size_t taken = 0;
  while (taken < bytes.size() && !is_over()) {
    if (state_ != State::kData) {
      take(bytes[taken++]);
      continue;
    }
    const size_t n = std::min(bytes.size() - taken, static_cast<size_t>(size_));
    body->append(bytes.substr(taken, n));
    taken += n;
    size_ -= static_cast<int64_t>(n);
    if (size_ == 0) state_ = State::kDataEnd;
  }
  return taken;
}

// Everything but the chunks' contents.
void ChunkDecoder::take(char c) {
  State next = State::kBad;
  switch (state_) {
    case State::kSize:
      if (const int digit = hex_digit(c); digit >= 0 && ++digits_ <= kMaxDigits) {
        size_ = size_ * 16 + digit;
        next = State::kSize;
      } else if (digits_ > 0 && digit < 0) {
        if (c == '\r') next = State::kSizeEnd;
        if (c == ';' || c == ' ' || c == '\t') next = State::kExtension;
      }
      break;
    case State::kExtension:
      if (c == '\r') {
        next = State::kSizeEnd;
      } else if (is_text(c) && ++words_ <= kMaxWords) {
        next = State::kExtension;
      }
      break;
    case State::kSizeEnd:
      if (c != '\n') break;
      digits_ = 0;
      is_line_empty_ = true;
      if (size_ > left_in_all_) {
        next = State::kTooLong;
      } else {
        left_in_all_ -= size_;
        next = size_ == 0 ? State::kLine : State::kData;
      }
      break;
    case State::kDataEnd:
      if (c == '\r') next = State::kDataEndLf;
      break;
    case State::kDataEndLf:
      if (c == '\n') next = State::kSize;
      break;
    case State::kLine:
      if (c == '\r') {
        next = State::kLineLf;
      } else if (is_text(c) && ++words_ <= kMaxWords) {
        is_line_empty_ = false;
        next = State::kLine;
      }
      break;
    case State::kLineLf:
      if (c != '\n') break;
      next = is_line_empty_ ? State::kDone : State::kLine;
      is_line_empty_ = true;
      break;
    default:
      break;
  }
  state_ = next;
}

}  // namespace nereid::server::net
