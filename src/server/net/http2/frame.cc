// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/frame.h"

#include <array>

namespace nereid::server::net::http2 {

std::string_view error_name(ErrorCode code) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "NO_ERROR",         "PROTOCOL_ERROR",    "INTERNAL_ERROR",   "FLOW_CONTROL_ERROR",
      "SETTINGS_TIMEOUT", "STREAM_CLOSED",     "FRAME_SIZE_ERROR", "REFUSED_STREAM",
      "CANCEL",           "COMPRESSION_ERROR", "CONNECT_ERROR",    "ENHANCE_YOUR_CALM",
  };
  const auto index = static_cast<size_t>(code);
  return index < kNames.size() ? kNames[index] : "an unknown error";
}

uint32_t read_number(const char* bytes, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void append_number(std::string* out, uint64_t value, int count) {
  for (int i = count - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

FrameHead read_frame_head(const char* bytes) {
  return {.length = read_number(bytes, 3),
          .type = static_cast<uint8_t>(bytes[3]),
          .flags = static_cast<uint8_t>(bytes[4]),
          .stream = read_number(bytes + 5, 4) & kMostStream};
}

void append_frame_head(std::string* out, FrameType type, uint8_t flags, uint32_t stream, size_t length) {
  const auto byte = [](uint64_t value, int at) { return static_cast<char>(value >> (8 * at)); };
  const char head[kFrameHeadBytes] = {byte(length, 2),         byte(length, 1),          byte(length, 0),
                                      static_cast<char>(type), static_cast<char>(flags), byte(stream, 3),
                                      byte(stream, 2),         byte(stream, 1),          byte(stream, 0)};
  out->append(head, sizeof head);
}

void append_reset(std::string* out, uint32_t stream, ErrorCode code) {
  append_frame_head(out, FrameType::kReset, 0, stream, 4);
  append_number(out, static_cast<uint32_t>(code), 4);
}

void append_window_update(std::string* out, uint32_t stream, int64_t bytes) {
  append_frame_head(out, FrameType::kWindowUpdate, 0, stream, 4);
  append_number(out, static_cast<uint64_t>(bytes), 4);
}

void append_ping(std::string* out, std::string_view eight_bytes, bool is_ack) {
  append_frame_head(out, FrameType::kPing, is_ack ? kAck : 0, 0, eight_bytes.size());
  out->append(eight_bytes);
}

void append_go_away(std::string* out, uint32_t last_stream, ErrorCode code, std::string_view text) {
  append_frame_head(out, FrameType::kGoAway, 0, 0, 8 + text.size());
  append_number(out, last_stream, 4);
  append_number(out, static_cast<uint32_t>(code), 4);
  out->append(text);
}

void append_setting(std::string* payload, Setting setting, uint32_t value) {
  append_number(payload, static_cast<uint16_t>(setting), 2);
  append_number(payload, value, 4);
}

}  // namespace nereid::server::net::http2
