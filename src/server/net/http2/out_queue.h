// SPDX-License-Identifier: Apache-2.0
// Bytes that wait to be sent, in order: what is short lies here, what is long where whoever made it left it.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nereid::server::net::http2 {

class OutQueue {
 public:
  // To append short bytes to. Until the next call.
  std::string* text();
  // `owner` keeps the bytes.
  void add(std::string_view bytes, std::shared_ptr<const void> owner);

  size_t bytes() const;
  bool empty() const { return bytes() == 0; }
  // The pieces that come next, at most `most.size()` of them; how many there are.
  size_t pieces(std::span<std::string_view> most) const;
  void sent(size_t bytes);
  void clear();

 private:
  struct Piece {
    std::string text;
    std::string_view bytes;             // of the owner; `text` is empty then
    std::shared_ptr<const void> owner;  // nullptr: it is the text
    std::string_view all() const { return owner != nullptr ? bytes : std::string_view(text); }
  };
  std::deque<Piece> pieces_;
  size_t first_sent_ = 0;  // of the first piece
};

}  // namespace nereid::server::net::http2
