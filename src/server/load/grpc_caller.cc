// SPDX-License-Identifier: Apache-2.0
#include "server/load/grpc_caller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace nereid::server::load {
namespace {

// RFC 9113, section 6.
constexpr uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7, kWindow = 8,
                  kContinuation = 9;
constexpr uint8_t kEndStream = 0x1, kAck = 0x1, kEndHeaders = 0x4, kPadded = 0x8, kPriority = 0x20;
constexpr uint16_t kHeaderTableSize = 1, kInitialWindow = 4, kMaxFrame = 5;
constexpr size_t kFrameHead = 9;
constexpr size_t kLeastPayload = 16'384, kMostPayload = size_t{1} << 20;  // what every peer takes, and what we do
constexpr uint32_t kWidest = 0x7fff'ffff;
constexpr int64_t kGiveBack = int64_t{1} << 29;

void append_number(std::string* out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t number_at(std::string_view bytes, size_t at, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)]);
  return value;
}

void append_frame_head(std::string* out, size_t payload, uint8_t type, uint8_t flags, uint32_t stream) {
  append_number(out, payload, 3);
  out->push_back(static_cast<char>(type));
  out->push_back(static_cast<char>(flags));
  append_number(out, stream, 4);
}

void append_frame(std::string* out, uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  append_frame_head(out, payload.size(), type, flags, stream);
  out->append(payload);
}

// RFC 7541, sections 5.1 and 6.2.1: a header whose name is in the static table at `name`, or stands there, and which
// joins the peer's table.
void append_header(std::string* out, uint8_t name, std::string_view literal_name, std::string_view value) {
  const auto append = [out](std::string_view text) {
    out->push_back(static_cast<char>(text.size()));  // below 127: no further byte, no Huffman code
    out->append(text);
  };
  out->push_back(static_cast<char>(0x40 | name));
  if (name == 0) append(literal_name);
  append(value);
}

// The first call's headers join the server's table; from then on a byte each names them.
std::string request_headers(std::string_view authority, std::string_view path, bool is_first) {
  std::string out = "\x83\x86";  // :method POST, :scheme http
  if (!is_first) return out + "\xc1\xc0\xbf\xbe";
  append_header(&out, 4, "", path);
  append_header(&out, 1, "", authority);
  append_header(&out, 31, "", "application/grpc");
  append_header(&out, 0, "te", "trailers");
  return out;
}

// The value of a header that stands in the block as plain text; "" where it does not.
std::string_view plain_header(std::string_view block, std::string_view name) {
  const size_t at = block.find(name);
  if (at == block.npos || at + name.size() >= block.size()) return {};
  block.remove_prefix(at + name.size());
  // RFC 7541, section 5.1: seven bits, and more behind them where all are set; the eighth says Huffman's code.
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(block[i]); };
  size_t length = byte(0), head = 1;
  if (length > 127) return {};
  if (length == 127)
    for (int shift = 0; shift < 21 && head < block.size(); shift += 7) {
      length += size_t{byte(head) & 0x7fu} << shift;
      if (byte(head++) < 128) break;
    }
  return head + length > block.size() ? std::string_view() : block.substr(head, length);
}

}  // namespace

GrpcCaller::GrpcCaller(std::string_view authority, std::string_view path, std::shared_ptr<const std::string> message)
    : authority_(authority.substr(0, 120)), path_(path.substr(0, 120)), message_(std::move(message)) {
  control_ = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  std::string settings;
  append_number(&settings, kHeaderTableSize, 2);
  append_number(&settings, 0, 4);
  append_number(&settings, kInitialWindow, 2);
  append_number(&settings, kWidest, 4);
  append_number(&settings, kMaxFrame, 2);
  append_number(&settings, kMostPayload, 4);
  append_frame(&control_, kSettings, 0, 0, settings);
  std::string window;
  append_number(&window, kWidest - 65'535, 4);
  append_frame(&control_, kWindow, 0, 0, window);
  message_prefix_.push_back('\0');
  append_number(&message_prefix_, message_->size(), 4);
  make_heads(kLeastPayload);
  data_sent_ = data_allowed_ = data_bytes_;
}

// Frames of so many bytes of the message.
void GrpcCaller::make_heads(size_t payload_bytes) {
  payload_bytes_ = payload_bytes;
  heads_.clear();
  data_bytes_ = 0;
  const size_t whole = message_prefix_.size() + message_->size();
  for (size_t at = 0; at < whole; at += payload_bytes_) {
    const size_t payload = std::min(payload_bytes_, whole - at);
    append_frame_head(&heads_, payload, kData, at + payload == whole ? kEndStream : 0, 0);
    data_bytes_ += kFrameHead + payload;
  }
}

void GrpcCaller::begin() {
  // Frames as long as the server takes them, which fit its streams' first window more than once.
  const size_t payload =
      std::clamp(std::min(peer_payload_, static_cast<size_t>(initial_window_) / 2), kLeastPayload, kMostPayload);
  if (payload != payload_bytes_) make_heads(payload);
  stream_ += is_first_ ? 1 : 2;
  append_frame(&control_, kHeaders, kEndHeaders, stream_, request_headers(authority_, path_, is_first_));
  is_first_ = false;
  is_done_ = false;
  error_.clear();
  prefix_.clear();
  answer_bytes_ = 0;
  answer_length_ = -1;
  stream_window_ = initial_window_;
  std::string name;
  append_number(&name, stream_, 4);
  for (size_t at = 0; at < heads_.size(); at += kFrameHead) heads_.replace(at + 5, 4, name);
  data_sent_ = data_allowed_ = 0;
  allow();
}

// Whole frames, as far as both windows reach.
void GrpcCaller::allow() {
  while (data_allowed_ < data_bytes_) {
    const auto payload = static_cast<int64_t>(std::min(payload_bytes_, data_bytes_ - data_allowed_ - kFrameHead));
    if (payload > connection_window_ || payload > stream_window_) return;
    connection_window_ -= payload;
    stream_window_ -= payload;
    data_allowed_ += kFrameHead + static_cast<size_t>(payload);
  }
}

bool GrpcCaller::is_between_frames() const {
  return data_sent_ == data_bytes_ || data_sent_ % (kFrameHead + payload_bytes_) == 0;
}

size_t GrpcCaller::pieces(std::span<std::string_view> most) const {
  size_t count = 0;
  const auto add = [&](std::string_view piece) {
    if (!piece.empty()) most[count++] = piece;
  };
  const bool has_control = control_sent_ < control_.size();
  if (has_control && is_between_frames()) add(std::string_view(control_).substr(control_sent_));
  // Up to three pieces a frame; other frames wait for the end of the one that has begun.
  for (size_t at = data_sent_; at < data_allowed_ && count + 3 <= most.size();) {
    const size_t frame = at / (kFrameHead + payload_bytes_);
    const size_t begin = frame * (kFrameHead + payload_bytes_);
    const size_t end = std::min(data_bytes_, begin + kFrameHead + payload_bytes_);
    size_t skip = at - begin;  // of the frame, sent already
    const auto part = [&](std::string_view bytes) {
      const size_t n = std::min(skip, bytes.size());
      skip -= n;
      add(bytes.substr(n));
    };
    part(std::string_view(heads_).substr(frame * kFrameHead, kFrameHead));
    size_t payload = end - begin - kFrameHead, from = frame * payload_bytes_;
    if (frame == 0) part(message_prefix_), payload -= message_prefix_.size();
    if (frame > 0) from -= message_prefix_.size();
    part(std::string_view(*message_).substr(from, payload));
    at = end;
    if (has_control && !is_between_frames()) break;
  }
  return count;
}

void GrpcCaller::sent(size_t bytes) {
  if (is_between_frames()) {
    const size_t of_control = std::min(bytes, control_.size() - control_sent_);
    control_sent_ += of_control;
    bytes -= of_control;
    if (control_sent_ == control_.size()) control_.clear(), control_sent_ = 0;
  }
  data_sent_ += bytes;
}

void GrpcCaller::fail(std::string why, bool breaks) {
  if (error_.empty()) error_ = std::move(why);
  is_done_ = true;
  is_broken_ = is_broken_ || breaks || data_sent_ < data_bytes_;
}

void GrpcCaller::feed(std::string_view bytes) {
  while (!bytes.empty() && !is_broken_) {
    if (data_left_ > 0) {
      const std::string_view piece = bytes.substr(0, data_left_);
      bytes.remove_prefix(piece.size());
      data_left_ -= piece.size();
      take_data_piece(piece);
      continue;
    }
    if (in_.size() < kFrameHead) {
      const std::string_view head = bytes.substr(0, kFrameHead - in_.size());
      in_ += head;
      bytes.remove_prefix(head.size());
      if (in_.size() < kFrameHead) return;
    }
    const size_t length = number_at(in_, 0, 3);
    const Frame frame{.type = static_cast<uint8_t>(in_[3]),
                      .flags = static_cast<uint8_t>(in_[4]),
                      .stream = number_at(in_, 5, 4) & kWidest,
                      .payload = {}};
    if (length > kMostPayload) return fail("the server sends a frame that is longer than any that it may", true);
    if (frame.type == kData && length > 0) {
      data_frame_ = frame;
      data_left_ = length;
      in_.clear();
      continue;
    }
    const std::string_view rest = bytes.substr(0, kFrameHead + length - in_.size());
    in_ += rest;
    bytes.remove_prefix(rest.size());
    if (in_.size() < kFrameHead + length) return;
    const std::string whole = std::exchange(in_, {});
    take({.type = frame.type,
          .flags = frame.flags,
          .stream = frame.stream,
          .payload = std::string_view(whole).substr(kFrameHead)});
  }
}

// Long answers are looked at where they came to lie.
void GrpcCaller::take_data_piece(std::string_view bytes) {
  received_ += static_cast<int64_t>(bytes.size());
  if (received_ > kGiveBack) {
    std::string window;
    append_number(&window, static_cast<uint64_t>(std::exchange(received_, 0)), 4);
    append_frame(&control_, kWindow, 0, 0, window);
  }
  if (data_frame_.stream != stream_ || is_done_) return;
  if ((data_frame_.flags & kPadded) != 0) return fail("the answer is padded, which this client does not read", true);
  if (prefix_.size() < kPrefix) {
    prefix_.append(bytes.substr(0, static_cast<size_t>(kPrefix) - prefix_.size()));
    if (prefix_.size() == kPrefix) answer_length_ = number_at(prefix_, 1, 4);
  }
  answer_bytes_ += static_cast<int64_t>(bytes.size());
  if (data_left_ == 0 && (data_frame_.flags & kEndStream) != 0) fail("the answer ended without a status", false);
}

void GrpcCaller::take(const Frame& frame) {
  const bool is_ours = frame.stream == stream_ && !is_done_;
  switch (frame.type) {
    case kData:  // an empty one
      if (is_ours && (frame.flags & kEndStream) != 0) fail("the answer ended without a status", false);
      return;
    case kHeaders:
      if (is_ours) take_headers(frame);
      return;
    case kContinuation:
      return fail("the server's headers come in pieces, which this client does not read", true);
    case kReset:
      if (is_ours && frame.payload.size() >= 4)
        fail(fmt::format("the server broke the call off with HTTP/2's error {}", number_at(frame.payload, 0, 4)),
             false);
      return;
    case kSettings:
      return take_settings(frame);
    case kPing:
      if ((frame.flags & kAck) == 0) append_frame(&control_, kPing, kAck, 0, frame.payload);
      return;
    case kGoAway:
      return fail("the server said that it ends", true);
    case kWindow:
      if (frame.payload.size() < 4) return;
      if (frame.stream == 0) connection_window_ += number_at(frame.payload, 0, 4) & kWidest;
      if (is_ours) stream_window_ += number_at(frame.payload, 0, 4) & kWidest;
      return allow();
    default:
      return;
  }
}

void GrpcCaller::take_settings(const Frame& frame) {
  if ((frame.flags & kAck) != 0) return;
  for (size_t at = 0; at + 6 <= frame.payload.size(); at += 6) {
    const uint32_t setting = number_at(frame.payload, at, 2), value = number_at(frame.payload, at + 2, 4) & kWidest;
    if (setting == kMaxFrame) peer_payload_ = std::clamp<size_t>(value, kLeastPayload, kMostPayload);
    if (setting == kInitialWindow) stream_window_ += value - std::exchange(initial_window_, value);
  }
  append_frame(&control_, kSettings, kAck, 0, "");
  allow();
}

void GrpcCaller::take_headers(const Frame& frame) {
  std::string_view block = frame.payload;
  if ((frame.flags & kEndHeaders) == 0 || (frame.flags & kPadded) != 0)
    return fail("the server's headers come in pieces, which this client does not read", true);
  if ((frame.flags & kPriority) != 0) block.remove_prefix(std::min<size_t>(5, block.size()));
  if ((frame.flags & kEndStream) == 0) return;  // the first headers: the answer follows
  const std::string_view status = plain_header(block, "grpc-status");
  if (status.empty()) return fail("the status of the answer is packed in a way that this client does not read", true);
  if (status != "0") return fail(fmt::format("gRPC status {}: {}", status, plain_header(block, "grpc-message")), false);
  if (answer_length_ < 0 || answer_bytes_ != answer_length_ + kPrefix)
    return fail("the answer is not as long as it says", false);
  if (data_sent_ < data_bytes_) return fail("the answer came before the request was sent", true);
  is_done_ = true;
}

}  // namespace nereid::server::load
