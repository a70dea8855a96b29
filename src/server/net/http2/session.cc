// SPDX-License-Identifier: Apache-2.0
// The session's bytes: what comes is cut into frames; bodies go on to their readers.
#include "server/net/http2/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nereid::server::net::http2 {
namespace {

// Of a frame that is no body: longer ones are nothing that a client needs.
constexpr size_t kMostControl = 64 << 10;
// Of answers to pings and the like that a client does not read.
constexpr size_t kMostUnread = 4 << 20;

bool is_known(const FrameHead& head) {
  return head.type <= static_cast<uint8_t>(FrameType::kContinuation);
}

}  // namespace

Session::Session(const SessionLimits& limits, SessionUser& user) : limits_(limits), user_(user) {
  std::string payload;
  append_setting(&payload, Setting::kMaxConcurrentStreams, static_cast<uint32_t>(limits.max_streams));
  append_setting(&payload, Setting::kInitialWindowSize, static_cast<uint32_t>(limits.stream_window));
  append_setting(&payload, Setting::kMaxFrameSize, limits.max_frame);
  append_setting(&payload, Setting::kMaxHeaderListSize, static_cast<uint32_t>(limits.max_header_bytes));
  std::string* out = out_.text();
  append_frame_head(out, FrameType::kSettings, 0, 0, payload.size());
  out->append(payload);
  append_window_update(out, 0, limits.connection_window - recv_left_);
  recv_left_ = limits.connection_window;
}

std::span<char> Session::body_room() {
  if (state_ != State::kBody || reading_ == nullptr || is_broken_) return {};
  const std::span<char> room = reading_->reader->room();
  return room.first(std::min(room.size(), frame_left_));
}

void Session::body_came(size_t bytes) {
  frame_left_ -= bytes;
  body_bytes_ += static_cast<int64_t>(bytes);
  reading_->reader->came(bytes);
  if (frame_left_ == 0) end_data();
}

void Session::feed(std::string_view bytes, int64_t at_ns) {
  at_ns_ = at_ns;
  while (!bytes.empty() && !is_broken_) {
    if (in_.empty()) {
      const size_t taken = take(bytes);
      bytes.remove_prefix(taken);
      if (taken == 0) return in_.assign(bytes), void();
      continue;
    }
    const size_t more = std::min(wanted() - in_.size(), bytes.size());
    in_.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
    if (take(in_) > 0) in_.clear();
  }
}

// How long `in_` has to be for the next step.
size_t Session::wanted() const {
  if (state_ == State::kBegin) return kPreface.size();
  if (in_.size() < kFrameHeadBytes) return kFrameHeadBytes;
  const FrameHead head = read_frame_head(in_.data());
  if (head.is(FrameType::kData)) return kFrameHeadBytes + 1;  // padded, or it would not wait
  return kFrameHeadBytes + head.length;
}

// How many bytes were used; 0: there have to be more.
size_t Session::take(std::string_view bytes) {
  switch (state_) {
    case State::kBegin:
      return take_preface(bytes);
    case State::kHead:
      return take_frame(bytes);
    case State::kBody:
      return take_body(bytes);
    case State::kSkip:
      break;
  }
  const size_t taken = std::min(skip_left_, bytes.size());
  skip_left_ -= taken;
  if (skip_left_ == 0) state_ = State::kHead;
  return taken;
}

size_t Session::take_preface(std::string_view bytes) {
  const size_t length = std::min(bytes.size(), kPreface.size());
  if (bytes.substr(0, length) != kPreface.substr(0, length)) {
    fail(ErrorCode::kProtocol, "the connection does not begin as HTTP/2 does");
    return length;
  }
  if (length < kPreface.size()) return 0;
  state_ = State::kHead;
  return length;
}

size_t Session::take_body(std::string_view bytes) {
  size_t taken = std::min(frame_left_, bytes.size());
  if (reading_ == nullptr) {
    frame_left_ -= taken;
    if (frame_left_ == 0) end_data();
    return taken;
  }
  const std::span<char> room = body_room();
  if (room.empty()) {
    reading_ = nullptr;
    return take_body(bytes);
  }
  taken = std::min(taken, room.size());
  std::memcpy(room.data(), bytes.data(), taken);
  body_came(taken);
  return taken;
}

size_t Session::take_frame(std::string_view bytes) {
  if (bytes.size() < kFrameHeadBytes) return 0;
  const FrameHead head = read_frame_head(bytes.data());
  if (!check_head(head)) return bytes.size();
  if (!is_known(head)) {
    spend(1);
    skip_left_ = head.length;
    if (skip_left_ > 0) state_ = State::kSkip;
    return kFrameHeadBytes;
  }
  if (head.is(FrameType::kData)) {
    const bool is_padded = head.has(kPadded) && head.length > 0;
    if (is_padded && bytes.size() == kFrameHeadBytes) return 0;
    begin_data(head, is_padded ? static_cast<unsigned char>(bytes[kFrameHeadBytes]) : 0);
    return kFrameHeadBytes + (is_padded ? 1 : 0);
  }
  if (bytes.size() < kFrameHeadBytes + head.length) return 0;
  on_frame(head, bytes.substr(kFrameHeadBytes, head.length));
  return kFrameHeadBytes + head.length;
}

// What can be told by the head alone.
bool Session::check_head(const FrameHead& head) {
  if (head.length > limits_.max_frame) {
    fail(ErrorCode::kFrameSize, "a frame is longer than SETTINGS_MAX_FRAME_SIZE");
  } else if (!has_settings_ && (!head.is(FrameType::kSettings) || head.has(kAck))) {
    fail(ErrorCode::kProtocol, "the first frame is no SETTINGS");
  } else if (block_stream_ != 0 && !(head.is(FrameType::kContinuation) && head.stream == block_stream_)) {
    fail(ErrorCode::kProtocol, "another frame stands in the middle of a header block");
  } else if (is_known(head) && !head.is(FrameType::kData) && head.length > kMostControl) {
    fail(ErrorCode::kEnhanceYourCalm, "a frame that is no body is longer than the server reads");
  } else if (out_.bytes() > kMostUnread) {
    fail(ErrorCode::kEnhanceYourCalm, "the client asks for much and reads nothing");
  }
  return !is_broken_;
}

void Session::begin_data(const FrameHead& head, size_t padding) {
  frame_ = head;
  reading_ = nullptr;
  const auto length = static_cast<int64_t>(head.length);
  const size_t pad_field = head.has(kPadded) ? 1 : 0;
  if (head.stream == 0 || is_idle(head.stream)) return fail(ErrorCode::kProtocol, "DATA of a stream that is not open");
  if (pad_field + padding > head.length)
    return fail(ErrorCode::kProtocol, "the padding of DATA is longer than the frame");
  recv_left_ -= length;
  if (recv_left_ < 0) return fail(ErrorCode::kFlowControl, "the connection's window is overrun");
  state_ = State::kBody;
  frame_left_ = head.length - pad_field - padding;
  padding_left_ = padding;
  if (frame_left_ == 0 && !head.has(kEndStream)) spend(1);
  Stream* const stream = find(head.stream);
  if (stream == nullptr) {
    if (!was_cut_off(head.stream)) reset(head.stream, ErrorCode::kStreamClosed);
  } else if (stream->has_ended) {
    reset(head.stream, ErrorCode::kStreamClosed);
  } else if ((stream->recv_left -= length) < 0) {
    reset(head.stream, ErrorCode::kFlowControl);
  } else {
    stream->body_bytes += static_cast<int64_t>(frame_left_);
    const bool fits =
        stream->content_length < 0 || (head.has(kEndStream) ? stream->body_bytes == stream->content_length
                                                            : stream->body_bytes <= stream->content_length);
    if (fits) {
      reading_ = stream;
    } else {
      reset(head.stream, ErrorCode::kProtocol);
    }
  }
  if (!is_broken_ && frame_left_ == 0) end_data();
}

void Session::end_data() {
  reading_ = nullptr;
  skip_left_ = std::exchange(padding_left_, 0);
  state_ = skip_left_ > 0 ? State::kSkip : State::kHead;
  const auto length = static_cast<int64_t>(frame_.length);
  give_back(length);
  Stream* const stream = find(frame_.stream);
  if (stream == nullptr || stream->has_ended) return;
  if (frame_.has(kEndStream)) return end_request(*stream);
  stream->recv_owed += length;
  if (stream->recv_owed < limits_.stream_window / 2) return;
  append_window_update(out_.text(), stream->id, stream->recv_owed);
  stream->recv_left += std::exchange(stream->recv_owed, 0);
}

void Session::give_back(int64_t bytes) {
  recv_owed_ += bytes;
  if (recv_owed_ < limits_.connection_window / 2) return;
  append_window_update(out_.text(), 0, recv_owed_);
  recv_left_ += std::exchange(recv_owed_, 0);
}

void Session::end_request(Stream& stream) {
  stream.has_ended = true;
  stream.reader->end();
}

}  // namespace nereid::server::net::http2
