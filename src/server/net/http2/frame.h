// SPDX-License-Identifier: Apache-2.0
// HTTP/2's frames: their heads, kinds, flags, settings and error codes (RFC 9113, sections 4, 6 and 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::server::net::http2 {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline constexpr size_t kFrameHeadBytes = 9;
inline constexpr uint32_t kLeastMaxFrame = 16'384, kMostMaxFrame = 16'777'215;  // of SETTINGS_MAX_FRAME_SIZE
inline constexpr int64_t kFirstWindow = 65'535, kMostWindow = 0x7fff'ffff;
inline constexpr uint32_t kMostStream = 0x7fff'ffff;

enum class FrameType : uint8_t {
  kData,
  kHeaders,
  kPriority,
  kReset,
  kSettings,
  kPushPromise,
  kPing,
  kGoAway,
  kWindowUpdate,
  kContinuation,
};

inline constexpr uint8_t kEndStream = 0x1, kAck = 0x1, kEndHeaders = 0x4, kPadded = 0x8, kHasPriority = 0x20;

enum class Setting : uint16_t {
  kHeaderTableSize = 1,
  kEnablePush,
  kMaxConcurrentStreams,
  kInitialWindowSize,
  kMaxFrameSize,
  kMaxHeaderListSize,
};

enum class ErrorCode : uint32_t {
  kNone,
  kProtocol,
  kInternal,
  kFlowControl,
  kSettingsTimeout,
  kStreamClosed,
  kFrameSize,
  kRefusedStream,
  kCancel,
  kCompression,
  kConnect,
  kEnhanceYourCalm,
};
// "PROTOCOL_ERROR"
std::string_view error_name(ErrorCode code);

struct FrameHead {
  uint32_t length = 0;
  uint8_t type = 0;  // a FrameType, or one that is not known
  uint8_t flags = 0;
  uint32_t stream = 0;  // 31 bits
  bool is(FrameType one) const { return type == static_cast<uint8_t>(one); }
  bool has(uint8_t flag) const { return (flags & flag) != 0; }
};

// Big-endian, of `count` bytes at `bytes`.
uint32_t read_number(const char* bytes, int count);
void append_number(std::string* out, uint64_t value, int count);

// `bytes` has kFrameHeadBytes.
FrameHead read_frame_head(const char* bytes);
void append_frame_head(std::string* out, FrameType type, uint8_t flags, uint32_t stream, size_t length);

void append_reset(std::string* out, uint32_t stream, ErrorCode code);
void append_window_update(std::string* out, uint32_t stream, int64_t bytes);
void append_ping(std::string* out, std::string_view eight_bytes, bool is_ack);
void append_go_away(std::string* out, uint32_t last_stream, ErrorCode code, std::string_view text);
void append_setting(std::string* payload, Setting setting, uint32_t value);

}  // namespace nereid::server::net::http2
