// SPDX-License-Identifier: Apache-2.0
// The session's answers: into frames, as far as the client's windows reach, by turns.
#include <algorithm>
#include <utility>

#include "server/net/http2/session.h"

namespace nereid::server::net::http2 {
namespace {

constexpr size_t kMostOut = 1 << 20;       // ready to be sent; the rest waits where it is
constexpr int64_t kTurnBytes = 256 << 10;  // of one stream before the next has its turn
constexpr size_t kCopied = 4 << 10;        // shorter bytes are copied: one piece to send
constexpr size_t kMostCutOff = 256;        // streams that are remembered

}  // namespace

Session::Stream* Session::find(uint32_t id) const {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

bool Session::was_cut_off(uint32_t id) const {
  return std::ranges::find(cut_off_, id) != cut_off_.end();
}

void Session::forget(uint32_t id, bool is_cut) {
  if (is_cut) {
    cut_off_.push_back(id);
    if (cut_off_.size() > kMostCutOff) cut_off_.pop_front();
  }
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  if (reading_ == found->second.get()) reading_ = nullptr;
  drop_pending(*found->second);
  const std::unique_ptr<Stream> going = std::move(found->second);  // its reader may look at the session
  streams_.erase(found);
}

void Session::answer(uint32_t id, Answer&& answer) {
  Stream* const stream = find(id);
  if (stream == nullptr || is_broken_) return;
  if (answer.reset) {
    append_reset(out_.text(), id, *answer.reset);
    return forget(id, true);
  }
  if (stream->is_whole) return;
  if (answer.drops_waiting) drop_pending(*stream);
  stream->is_whole = answer.is_end || answer.trailers != nullptr;
  for (BodyPiece& piece : answer.body) {
    stream->pending_bytes += static_cast<int64_t>(piece.size());
    pending_bytes_ += static_cast<int64_t>(piece.size());
    if (piece.text.size() >= kCopied) {
      auto text = std::make_shared<const std::string>(std::move(piece.text));
      stream->pending.push_back({.text = {}, .bytes = *text, .owner = text});
      piece.text.clear();
    }
    if (piece.size() > 0) stream->pending.push_back(std::move(piece));
  }
  if (answer.head != nullptr && !std::exchange(stream->has_head, true)) {
    const bool is_all = stream->is_whole && answer.trailers == nullptr && stream->pending_bytes == 0;
    write_headers(id, *answer.head, is_all);
    if (is_all) {
      if (!stream->has_ended) append_reset(out_.text(), id, ErrorCode::kNone);
      return forget(id, !stream->has_ended);
    }
  }
  stream->trailers = std::move(answer.trailers);
  queue(*stream);
}

void Session::drop_pending(Stream& stream) {
  pending_bytes_ -= std::exchange(stream.pending_bytes, 0);
  stream.pending.clear();
}

void Session::queue(Stream& stream) {
  if (stream.is_queued || (stream.pending_bytes == 0 && !stream.is_whole)) return;
  stream.is_queued = true;
  ready_.push_back(stream.id);
}

void Session::produce() {
  // Each stream once a round; those that a window holds up are queued again when it moves.
  while (!ready_.empty() && out_.bytes() < kMostOut && !is_broken_) {
    Stream* const stream = find(ready_.front());
    if (stream != nullptr && stream->pending_bytes > 0 && send_window_ <= 0) return;
    ready_.pop_front();
    if (stream == nullptr) continue;
    stream->is_queued = false;
    if (produce_some(*stream)) queue(*stream);
  }
}

// True: it may have more to send at once.
bool Session::produce_some(Stream& stream) {
  const bool has_trailers = stream.trailers != nullptr;
  if (stream.pending_bytes > 0) {
    const int64_t bytes = std::min(
        {stream.pending_bytes, stream.send_window, send_window_, static_cast<int64_t>(max_frame_out_), kTurnBytes});
    if (bytes <= 0) return false;
    write_data(stream, bytes, stream.is_whole && !has_trailers && bytes == stream.pending_bytes);
    if (stream.pending_bytes > 0) return true;
  } else if (stream.is_whole && !has_trailers) {
    write_data(stream, 0, true);
  }
  if (!stream.is_whole) return false;
  if (has_trailers) write_headers(stream.id, *stream.trailers, true);
  // A client that still sends is told that nobody wants it.
  if (!stream.has_ended) append_reset(out_.text(), stream.id, ErrorCode::kNone);
  forget(stream.id, !stream.has_ended);
  return false;
}

void Session::write_headers(uint32_t id, const HeaderFields& fields, bool is_end) {
  std::string* const out = out_.text();
  const size_t begin = out->size();
  append_frame_head(out, FrameType::kHeaders, kEndHeaders | (is_end ? kEndStream : 0), id, 0);
  encoder_.encode(fields, out);
  const size_t length = out->size() - begin - kFrameHeadBytes;
  for (size_t i = 0; i < 3; ++i) (*out)[begin + i] = static_cast<char>(length >> (8 * (2 - i)));
  last_ping_ns_ = ping_strikes_ = 0;
}

void Session::write_data(Stream& stream, int64_t bytes, bool is_end) {
  append_frame_head(out_.text(), FrameType::kData, is_end ? kEndStream : 0, stream.id, static_cast<size_t>(bytes));
  stream.pending_bytes -= bytes;
  pending_bytes_ -= bytes;
  stream.send_window -= bytes;
  send_window_ -= bytes;
  last_ping_ns_ = ping_strikes_ = 0;
  stream.reader->sent(bytes);
  for (auto left = static_cast<size_t>(bytes); left > 0;) {
    BodyPiece& piece = stream.pending.front();
    const size_t of_text = std::min(left, piece.text.size());
    out_.text()->append(piece.text, 0, of_text);
    piece.text.erase(0, of_text);
    left -= of_text;
    const size_t of_bytes = std::min(left, piece.bytes.size());
    if (of_bytes > 0 && piece.text.empty()) {
      const std::string_view part = piece.bytes.substr(0, of_bytes);
      if (of_bytes < kCopied || piece.owner == nullptr) {
        out_.text()->append(part);
      } else {
        out_.add(part, piece.owner);
      }
      piece.bytes.remove_prefix(of_bytes);
      left -= of_bytes;
    }
    if (piece.size() == 0) stream.pending.pop_front();
  }
  while (stream.pending_bytes == 0 && !stream.pending.empty()) stream.pending.pop_front();
}

void Session::set_deadline(uint32_t id, int64_t at_ns) {
  if (Stream* const stream = find(id)) stream->deadline_ns = at_ns;
}

int64_t Session::deadline_ns() const {
  int64_t least = INT64_MAX;
  for (const auto& [id, stream] : streams_) least = std::min(least, stream->deadline_ns);
  return least;
}

void Session::on_deadline(int64_t at_ns) {
  std::vector<std::shared_ptr<StreamReader>> due;
  for (const auto& [id, stream] : streams_) {
    if (stream->deadline_ns > at_ns) continue;
    stream->deadline_ns = INT64_MAX;
    due.push_back(stream->reader);
  }
  for (const auto& reader : due) reader->late();
}

void Session::ping() {
  append_ping(out_.text(), "nereid?!", false);
}

void Session::drain() {
  if (std::exchange(is_draining_, true) || is_broken_) return;
  append_go_away(out_.text(), last_stream_, ErrorCode::kNone, "");
}

void Session::lose() {
  is_broken_ = true;
  reading_ = nullptr;
  ready_.clear();
  const auto going = std::move(streams_);
  streams_.clear();
  for (const auto& [id, stream] : going) stream->reader->broken(ErrorCode::kCancel);
}

}  // namespace nereid::server::net::http2
