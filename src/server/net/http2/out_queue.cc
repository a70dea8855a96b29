// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/out_queue.h"

#include <utility>

namespace nereid::server::net::http2 {
namespace {

constexpr size_t kKept = 16 << 10;      // of memory for the next text
constexpr size_t kLongText = 32 << 10;  // behind which another begins

}  // namespace

std::string* OutQueue::text() {
  // A text that is never sent whole would grow for ever behind what of it has gone.
  if (pieces_.empty() || pieces_.back().owner != nullptr || pieces_.back().text.size() > kLongText)
    pieces_.emplace_back();
  return &pieces_.back().text;
}

void OutQueue::add(std::string_view bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  pieces_.push_back({.text = {}, .bytes = bytes, .owner = std::move(owner)});
}

size_t OutQueue::bytes() const {
  size_t bytes = 0;
  for (const Piece& one : pieces_) bytes += one.all().size();
  return bytes - first_sent_;
}

size_t OutQueue::pieces(std::span<std::string_view> most) const {
  size_t count = 0;
  for (size_t i = 0; i < pieces_.size() && count < most.size(); ++i) {
    std::string_view piece = pieces_[i].all();
    if (i == 0) piece.remove_prefix(first_sent_);
    if (!piece.empty()) most[count++] = piece;
  }
  return count;
}

void OutQueue::sent(size_t bytes) {
  while (!pieces_.empty()) {
    const size_t left = pieces_.front().all().size() - first_sent_;
    if (bytes < left) {
      first_sent_ += bytes;
      return;
    }
    bytes -= left;
    first_sent_ = 0;
    // An empty text stays for what comes next.
    if (pieces_.size() == 1 && pieces_.front().owner == nullptr && pieces_.front().text.capacity() <= kKept) {
      pieces_.front().text.clear();
      return;
    }
    pieces_.pop_front();
  }
}

void OutQueue::clear() {
  pieces_.clear();
  first_sent_ = 0;
}

}  // namespace nereid::server::net::http2
