// SPDX-License-Identifier: Apache-2.0
// What a client may get wrong, and whose error RFC 9113 says it is: the connection's or the stream's.
#include <gtest/gtest.h>

#include "server/net/http2/test_session.h"

namespace nereid::server::net::http2 {
namespace {

// Behind the preface and a request 1 that is not whole.
std::string after(std::string_view bytes) {
  TestSession talk;
  talk.begin();
  talk.post(1);
  talk.lines();
  talk.feed(bytes);
  return talk.lines();
}

std::string headers(uint32_t id, std::string_view block, uint8_t flags = kEndHeaders | kEndStream) {
  return frame(FrameType::kHeaders, flags, id, block);
}

// A literal header that joins no table.
std::string literal(std::string_view name, std::string_view value) {
  std::string out(1, '\0');
  out += static_cast<char>(name.size());
  out += name;
  out += static_cast<char>(value.size());
  return out.append(value);
}

TEST(SessionErrors, a_connection_begins_with_the_preface_and_settings) {
  TestSession http1;
  http1.feed("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http1.lines(), "GOAWAY 0 PROTOCOL_ERROR\n");
  TestSession no_settings;
  no_settings.feed(std::string(kPreface) + frame(FrameType::kPing, 0, 0, "12345678"));
  EXPECT_EQ(no_settings.lines(), "GOAWAY 0 PROTOCOL_ERROR\n");
}

TEST(SessionErrors, of_the_connection) {
  const struct {
    const char* what;
    std::string bytes;
    const char* code;
  } cases[] = {
      {"4.2 longer than SETTINGS_MAX_FRAME_SIZE", frame(FrameType::kData, 0, 1, std::string((1 << 20) + 1, 'x')),
       "FRAME_SIZE_ERROR"},
      {"5.1 DATA of an idle stream", frame(FrameType::kData, 0, 3, "x"), "PROTOCOL_ERROR"},
      {"5.1 RST_STREAM of an idle stream", frame(FrameType::kReset, 0, 3, number(8, 4)), "PROTOCOL_ERROR"},
      {"5.1 WINDOW_UPDATE of an idle stream", frame(FrameType::kWindowUpdate, 0, 3, number(1, 4)), "PROTOCOL_ERROR"},
      {"5.1.1 an even stream", headers(2, kPost), "PROTOCOL_ERROR"},
      {"5.1.1 a stream below the last", headers(5, kPost) + headers(3, kPost), "STREAM_CLOSED"},
      {"6.1 DATA of no stream", frame(FrameType::kData, 0, 0, "x"), "PROTOCOL_ERROR"},
      {"6.1 padding longer than DATA", frame(FrameType::kData, kPadded, 1, "\5abc"), "PROTOCOL_ERROR"},
      {"6.2 HEADERS of no stream", headers(0, kPost), "PROTOCOL_ERROR"},
      {"6.2 padding longer than HEADERS", headers(3, "\x09" + kPost, kEndHeaders | kPadded), "PROTOCOL_ERROR"},
      {"6.2 no room for a priority", headers(3, "abc", kEndHeaders | kHasPriority), "FRAME_SIZE_ERROR"},
      {"6.3 PRIORITY of no stream", frame(FrameType::kPriority, 0, 0, "12345"), "PROTOCOL_ERROR"},
      {"6.4 RST_STREAM of no stream", frame(FrameType::kReset, 0, 0, number(8, 4)), "PROTOCOL_ERROR"},
      {"6.4 RST_STREAM of 3 bytes", frame(FrameType::kReset, 0, 1, "abc"), "FRAME_SIZE_ERROR"},
      {"6.5 SETTINGS of a stream", frame(FrameType::kSettings, 0, 1, ""), "PROTOCOL_ERROR"},
      {"6.5 SETTINGS of 5 bytes", frame(FrameType::kSettings, 0, 0, "12345"), "FRAME_SIZE_ERROR"},
      {"6.5 an acknowledgement with something in it", frame(FrameType::kSettings, kAck, 0, "123456"),
       "FRAME_SIZE_ERROR"},
      {"6.5.2 push 2", frame(FrameType::kSettings, 0, 0, number(2, 2) + number(2, 4)), "PROTOCOL_ERROR"},
      {"6.5.2 a window of 2^31", frame(FrameType::kSettings, 0, 0, number(4, 2) + number(1u << 31, 4)),
       "FLOW_CONTROL_ERROR"},
      {"6.5.2 frames of 16,383 bytes", frame(FrameType::kSettings, 0, 0, number(5, 2) + number(16'383, 4)),
       "PROTOCOL_ERROR"},
      {"6.5.2 frames of 2^24 bytes", frame(FrameType::kSettings, 0, 0, number(5, 2) + number(1 << 24, 4)),
       "PROTOCOL_ERROR"},
      {"6.6 a push", frame(FrameType::kPushPromise, kEndHeaders, 1, "\0\0\0\2"), "PROTOCOL_ERROR"},
      {"6.7 PING of a stream", frame(FrameType::kPing, 0, 1, "12345678"), "PROTOCOL_ERROR"},
      {"6.7 PING of 7 bytes", frame(FrameType::kPing, 0, 0, "1234567"), "FRAME_SIZE_ERROR"},
      {"6.8 GOAWAY of a stream", frame(FrameType::kGoAway, 0, 1, "12345678"), "PROTOCOL_ERROR"},
      {"6.9 WINDOW_UPDATE of 3 bytes", frame(FrameType::kWindowUpdate, 0, 0, "123"), "FRAME_SIZE_ERROR"},
      {"6.9 the connection's by nothing", frame(FrameType::kWindowUpdate, 0, 0, number(0, 4)), "PROTOCOL_ERROR"},
      {"6.9.1 the connection's beyond 2^31-1", frame(FrameType::kWindowUpdate, 0, 0, number(0x7fff'ffff, 4)),
       "FLOW_CONTROL_ERROR"},
      {"6.10 CONTINUATION of nothing", frame(FrameType::kContinuation, kEndHeaders, 1, ""), "PROTOCOL_ERROR"},
      {"6.10 another frame within a block", headers(3, kPost, 0) + frame(FrameType::kPing, 0, 0, "12345678"),
       "PROTOCOL_ERROR"},
      {"6.10 the CONTINUATION of another stream", headers(3, kPost, 0) + frame(FrameType::kContinuation, 0, 5, ""),
       "PROTOCOL_ERROR"},
      {"4.3 a block that cannot be read", headers(3, "\xff\xff\xff\xff\xff\xff"), "COMPRESSION_ERROR"},
  };
  for (const auto& one : cases) {
    const std::string lines = after(one.bytes);
    EXPECT_TRUE(lines.find("GOAWAY") != lines.npos && lines.ends_with(std::string(one.code) + "\n"))
        << one.what << ": " << lines;
  }
}

TEST(SessionErrors, of_the_stream) {
  const struct {
    const char* what;
    std::string bytes;
    const char* line;
  } cases[] = {
      {"5.1 DATA behind the end", frame(FrameType::kData, kEndStream, 1, "") + frame(FrameType::kData, 0, 1, "x"),
       "RST_STREAM 1 STREAM_CLOSED\n"},
      {"5.1 HEADERS behind the end", frame(FrameType::kData, kEndStream, 1, "") + headers(1, ""),
       "RST_STREAM 1 STREAM_CLOSED\n"},
      {"6.3 PRIORITY of 4 bytes", frame(FrameType::kPriority, 0, 1, "1234"), "RST_STREAM 1 FRAME_SIZE_ERROR\n"},
      {"6.9 by nothing", frame(FrameType::kWindowUpdate, 0, 1, number(0, 4)), "RST_STREAM 1 PROTOCOL_ERROR\n"},
      {"6.9.1 beyond 2^31-1", frame(FrameType::kWindowUpdate, 0, 1, number(0x7fff'ffff, 4)),
       "RST_STREAM 1 FLOW_CONTROL_ERROR\n"},
      {"8.1 trailers without an end", headers(1, "", kEndHeaders), "RST_STREAM 1 PROTOCOL_ERROR\n"},
      {"8.1 a pseudo-header in trailers", headers(1, "\x84"), "RST_STREAM 1 PROTOCOL_ERROR\n"},
      {"8.2.1 upper case", headers(3, kPost + literal("Te", "trailers")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.2.1 a line end in a value", headers(3, kPost + literal("x", "a\r\nb")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.2.1 a blank before a value", headers(3, kPost + literal("x", " a")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.2.1 an empty name", headers(3, kPost + literal("", "a")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.2.2 connection", headers(3, kPost + literal("connection", "close")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.2.2 te", headers(3, kPost + literal("te", "gzip")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 no path", headers(3, "\x83\x86"), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 no method", headers(3, "\x86\x84"), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 no scheme", headers(3, "\x83\x84"), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 a path twice", headers(3, kPost + "\x84"), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 an empty path", headers(3, "\x83\x86" + literal(":path", "")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 one that there is not", headers(3, kPost + literal(":x", "y")), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 one of answers", headers(3, kPost + "\x88"), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.3 behind others", headers(3, "\x83\x86" + literal("x", "y") + "\x84"), "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.1.1 a length that the body has not", headers(3, kPost + literal("content-length", "5")),
       "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.1.1 a body longer than that",
       headers(3, kPost + literal("content-length", "2"), kEndHeaders) + frame(FrameType::kData, 0, 3, "abc"),
       "RST_STREAM 3 PROTOCOL_ERROR\n"},
      {"8.1.1 two lengths",
       headers(3, kPost + literal("content-length", "2") + literal("content-length", "3"), kEndHeaders),
       "RST_STREAM 3 PROTOCOL_ERROR\n"},
  };
  for (const auto& one : cases) EXPECT_EQ(after(one.bytes), one.line) << one.what;
}

TEST(SessionErrors, what_comes_late_for_a_stream_that_has_ended_hurts_nobody) {
  EXPECT_EQ(after(frame(FrameType::kReset, 0, 1, number(8, 4)) + frame(FrameType::kWindowUpdate, 0, 1, number(9, 4)) +
                  frame(FrameType::kReset, 0, 1, number(8, 4))),
            "");
  EXPECT_EQ(after(frame(FrameType::kReset, 0, 1, number(8, 4)) + frame(FrameType::kData, 0, 1, "x") +
                  frame(FrameType::kData, 0, 1, "y")),
            "RST_STREAM 1 STREAM_CLOSED\n");
}

TEST(SessionErrors, windows_that_are_overrun) {
  TestSession of_stream({.stream_window = 10, .connection_window = 70'000});
  of_stream.begin();
  of_stream.post(1);
  of_stream.lines();
  of_stream.feed(frame(FrameType::kData, 0, 1, std::string(11, 'x')));
  EXPECT_EQ(of_stream.lines(), "RST_STREAM 1 FLOW_CONTROL_ERROR\n");
  EXPECT_EQ(of_stream.requests[1].broken, "FLOW_CONTROL_ERROR");

  TestSession of_connection({.stream_window = 200'000, .connection_window = 70'000});
  of_connection.begin();
  of_connection.post(1);
  of_connection.lines();
  of_connection.feed(frame(FrameType::kData, 0, 1, std::string(70'001, 'x')));
  EXPECT_EQ(of_connection.lines(), "GOAWAY 1 FLOW_CONTROL_ERROR\n");
  EXPECT_EQ(of_connection.requests[1].broken, "CANCEL");
}

TEST(SessionErrors, a_window_that_settings_make_too_wide) {
  EXPECT_EQ(after(frame(FrameType::kWindowUpdate, 0, 1, number(0x7fff'ffff - 65'535, 4)) +
                  frame(FrameType::kSettings, 0, 0, number(4, 2) + number(65'536, 4))),
            "GOAWAY 1 FLOW_CONTROL_ERROR\n");
}

TEST(SessionErrors, pings_that_come_too_fast) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += frame(FrameType::kPing, 0, 0, "12345678");
  EXPECT_EQ(after(bytes), "PING 12345678 ack\nPING 12345678 ack\nPING 12345678 ack\nGOAWAY 1 ENHANCE_YOUR_CALM\n");
}

}  // namespace
}  // namespace nereid::server::net::http2
