// SPDX-License-Identifier: Apache-2.0
// The session's frames that are no bodies: headers, settings, windows, pings, and what is an error of whom.
#include <algorithm>
#include <utility>

#include "server/net/http2/request_fields.h"
#include "server/net/http2/session.h"

namespace nereid::server::net::http2 {
namespace {

constexpr int kMostBlockFrames = 64;  // of one header block
// Of answers that a client does not read, before it may ask for more.
constexpr int64_t kMostPending = int64_t{256} << 20;
constexpr int64_t kResetPoints = 100;   // of AbuseBudget, for a stream that was begun for nothing
constexpr int64_t kRequestPoints = 10;  // that a request earns

}  // namespace

void Session::on_frame(const FrameHead& head, std::string_view payload) {
  switch (static_cast<FrameType>(head.type)) {
    case FrameType::kHeaders:
      return on_headers(head, payload);
    case FrameType::kContinuation:
      return on_continuation(head, payload);
    case FrameType::kPriority:  // of no effect (RFC 9113, 5.3.2)
      spend(1);
      if (head.stream == 0) return fail(ErrorCode::kProtocol, "PRIORITY of no stream");
      if (head.length != 5) reset(head.stream, ErrorCode::kFrameSize);
      return;
    case FrameType::kReset:
      return on_reset(head);
    case FrameType::kSettings:
      return on_settings(head, payload);
    case FrameType::kPushPromise:
      return fail(ErrorCode::kProtocol, "a client promises nothing");
    case FrameType::kPing:
      return on_ping(head, payload);
    case FrameType::kGoAway:
      if (head.stream != 0) return fail(ErrorCode::kProtocol, "GOAWAY of a stream");
      if (head.length < 8) return fail(ErrorCode::kFrameSize, "GOAWAY has at least 8 bytes");
      return spend(1);
    case FrameType::kWindowUpdate:
      return on_window_update(head, payload);
    case FrameType::kData:
      return;
  }
}

void Session::on_headers(const FrameHead& head, std::string_view payload) {
  if (head.stream == 0) return fail(ErrorCode::kProtocol, "HEADERS of no stream");
  size_t padding = 0;
  if (head.has(kPadded)) {
    if (payload.empty()) return fail(ErrorCode::kFrameSize, "HEADERS are shorter than their fields");
    padding = static_cast<unsigned char>(payload[0]);
    payload.remove_prefix(1);
  }
  if (head.has(kHasPriority)) {
    if (payload.size() < 5) return fail(ErrorCode::kFrameSize, "HEADERS are shorter than their fields");
    payload.remove_prefix(5);
  }
  if (padding > payload.size()) return fail(ErrorCode::kProtocol, "the padding of HEADERS is longer than the frame");
  payload.remove_suffix(padding);
  if (head.has(kEndHeaders)) return on_block(head.stream, payload, head.has(kEndStream));
  block_stream_ = head.stream;
  block_ends_ = head.has(kEndStream);
  block_frames_ = 1;
  block_ = payload;
}

void Session::on_continuation(const FrameHead& head, std::string_view payload) {
  if (block_stream_ == 0) return fail(ErrorCode::kProtocol, "CONTINUATION of nothing");
  // Huffman's code and the table make blocks shorter than what they stand for, never much longer.
  if (++block_frames_ > kMostBlockFrames || block_.size() + payload.size() > 2 * limits_.max_header_bytes)
    return fail(ErrorCode::kEnhanceYourCalm, "a header block is longer than the server reads");
  block_ += payload;
  if (!head.has(kEndHeaders)) return;
  const uint32_t id = std::exchange(block_stream_, 0);
  on_block(id, block_, block_ends_);
  block_ = {};
}

void Session::on_block(uint32_t id, std::string_view block, bool is_end) {
  HeaderFields fields;
  const HpackDecoder::Outcome outcome = decoder_.decode(block, limits_.max_header_bytes, &fields);
  if (outcome == HpackDecoder::Outcome::kBroken) return fail(ErrorCode::kCompression, "a header block cannot be read");
  if (Stream* const stream = find(id)) return on_trailers(*stream, fields, is_end);
  if (!is_idle(id)) {
    if (was_cut_off(id)) return;
    return fail(ErrorCode::kStreamClosed, "HEADERS of a stream that is closed");
  }
  if (id % 2 == 0) return fail(ErrorCode::kProtocol, "a client's streams have odd numbers");
  last_stream_ = id;
  const int64_t running = std::max<int64_t>(user_.running(), static_cast<int64_t>(streams_.size()));
  if (is_draining_ || running >= limits_.max_streams || pending_bytes_ > kMostPending)
    return reset(id, ErrorCode::kRefusedStream);
  if (outcome == HpackDecoder::Outcome::kTooLong) {
    spend(kResetPoints);
    write_headers(id, {{":status", "431"}}, true);
    if (!is_end) append_reset(out_.text(), id, ErrorCode::kNone);
    return forget(id, !is_end);
  }
  RequestHead head{
      .method = {}, .scheme = {}, .authority = {}, .path = {}, .headers = {}, .peer = {}, .begin_ns = at_ns_};
  int64_t content_length = -1;
  if (!read_request_fields(std::move(fields), &head, &content_length) || (is_end && content_length > 0))
    return reset(id, ErrorCode::kProtocol);
  budget_.earn(kRequestPoints);
  auto stream = std::make_unique<Stream>();
  stream->id = id;
  stream->recv_left = limits_.stream_window;
  stream->send_window = first_send_window_;
  stream->content_length = content_length;
  Stream& placed = *streams_.emplace(id, std::move(stream)).first->second;
  placed.reader = user_.begin_request(id, std::move(head));
  if (is_end) end_request(placed);
}

void Session::on_trailers(Stream& stream, const HeaderFields& fields, bool is_end) {
  if (stream.has_ended) return reset(stream.id, ErrorCode::kStreamClosed);
  const bool is_short = stream.content_length >= 0 && stream.body_bytes != stream.content_length;
  if (!is_end || is_short || !are_trailers(fields)) return reset(stream.id, ErrorCode::kProtocol);
  end_request(stream);
}

void Session::on_reset(const FrameHead& head) {
  if (head.length != 4) return fail(ErrorCode::kFrameSize, "RST_STREAM has 4 bytes");
  if (head.stream == 0 || is_idle(head.stream))
    return fail(ErrorCode::kProtocol, "RST_STREAM of a stream that is not open");
  Stream* const stream = find(head.stream);
  spend(stream != nullptr ? kResetPoints : 1);
  if (stream == nullptr || is_broken_) return;
  const std::shared_ptr<StreamReader> reader = stream->reader;
  forget(head.stream, false);
  reader->broken(ErrorCode::kCancel);
}

void Session::on_settings(const FrameHead& head, std::string_view payload) {
  if (head.stream != 0) return fail(ErrorCode::kProtocol, "SETTINGS of a stream");
  if (head.has(kAck)) {
    if (head.length != 0) fail(ErrorCode::kFrameSize, "an acknowledgement of SETTINGS is empty");
    return;
  }
  if (head.length % 6 != 0) return fail(ErrorCode::kFrameSize, "SETTINGS have 6 bytes each");
  has_settings_ = true;
  spend(1 + static_cast<int64_t>(head.length) / 6);
  for (; !payload.empty() && !is_broken_; payload.remove_prefix(6))
    apply_setting(static_cast<Setting>(read_number(payload.data(), 2)), read_number(payload.data() + 2, 4));
  if (!is_broken_) append_frame_head(out_.text(), FrameType::kSettings, kAck, 0, 0);
}

void Session::apply_setting(Setting setting, uint32_t value) {
  switch (setting) {
    case Setting::kHeaderTableSize:
      return encoder_.set_table_bytes(value);
    case Setting::kEnablePush:
      if (value > 1) fail(ErrorCode::kProtocol, "SETTINGS_ENABLE_PUSH is 0 or 1");
      return;
    case Setting::kInitialWindowSize: {
      if (value > kMostWindow) return fail(ErrorCode::kFlowControl, "SETTINGS_INITIAL_WINDOW_SIZE is at most 2^31-1");
      const int64_t more = static_cast<int64_t>(value) - std::exchange(first_send_window_, value);
      for (const auto& [id, stream] : streams_) {
        stream->send_window += more;
        if (stream->send_window > kMostWindow)
          return fail(ErrorCode::kFlowControl, "SETTINGS_INITIAL_WINDOW_SIZE makes a window too wide");
        queue(*stream);
      }
      return;
    }
    case Setting::kMaxFrameSize:
      if (value < kLeastMaxFrame || value > kMostMaxFrame)
        return fail(ErrorCode::kProtocol, "SETTINGS_MAX_FRAME_SIZE is from 2^14 to 2^24-1");
      max_frame_out_ = value;
      return;
    case Setting::kMaxConcurrentStreams:  // of pushes, which there are none of
    case Setting::kMaxHeaderListSize:     // answers have few headers
      return;
  }
}

void Session::on_ping(const FrameHead& head, std::string_view payload) {
  if (head.stream != 0) return fail(ErrorCode::kProtocol, "PING of a stream");
  if (head.length != 8) return fail(ErrorCode::kFrameSize, "PING has 8 bytes");
  spend(1);
  if (head.has(kAck)) return;
  const bool is_soon = last_ping_ns_ != 0 && at_ns_ - last_ping_ns_ < limits_.ping_interval_ns;
  last_ping_ns_ = at_ns_;
  if (is_soon && ++ping_strikes_ > limits_.max_ping_strikes && limits_.max_ping_strikes > 0)
    return fail(ErrorCode::kEnhanceYourCalm, "too_many_pings");
  append_ping(out_.text(), payload, true);
}

void Session::on_window_update(const FrameHead& head, std::string_view payload) {
  if (head.length != 4) return fail(ErrorCode::kFrameSize, "WINDOW_UPDATE has 4 bytes");
  if (head.stream != 0 && is_idle(head.stream))
    return fail(ErrorCode::kProtocol, "WINDOW_UPDATE of a stream that is not open");
  spend(1);
  const int64_t more = read_number(payload.data(), 4) & kMostStream;
  if (head.stream == 0) {
    if (more == 0) return fail(ErrorCode::kProtocol, "WINDOW_UPDATE of nothing");
    send_window_ += more;
    if (send_window_ > kMostWindow) fail(ErrorCode::kFlowControl, "the connection's window is too wide");
    return;
  }
  Stream* const stream = find(head.stream);
  if (stream == nullptr) return;  // it has ended meanwhile
  if (more == 0) return reset(head.stream, ErrorCode::kProtocol);
  stream->send_window += more;
  if (stream->send_window > kMostWindow) return reset(head.stream, ErrorCode::kFlowControl);
  queue(*stream);
}

void Session::spend(int64_t points) {
  if (!is_broken_ && !budget_.spend(points, at_ns_))
    fail(ErrorCode::kEnhanceYourCalm, "the client makes much work for nothing");
}

void Session::fail(ErrorCode code, std::string_view text) {
  if (std::exchange(is_broken_, true)) return;
  error_ = code;
  append_go_away(out_.text(), last_stream_, code, text);
  lose();
}

void Session::reset(uint32_t id, ErrorCode code) {
  append_reset(out_.text(), id, code);
  std::shared_ptr<StreamReader> reader;
  if (Stream* const stream = find(id)) reader = stream->reader;
  forget(id, true);
  if (reader != nullptr) reader->broken(code);
  spend(kResetPoints);
}

}  // namespace nereid::server::net::http2
