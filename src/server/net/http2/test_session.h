// SPDX-License-Identifier: Apache-2.0
// A session without a socket, for tests: frames in as text, frames out of it as lines, requests that are kept.
#pragma once

#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/net/http2/session.h"

namespace nereid::server::net::http2 {

// ":method POST, :scheme http, :path /" of the static table, the path last.
inline const std::string kPost = "\x83\x86\x84";

inline std::string frame(FrameType type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string out;
  append_frame_head(&out, type, flags, stream, payload.size());
  return out.append(payload);
}

inline std::string number(uint64_t value, int bytes) {
  std::string out;
  append_number(&out, value, bytes);
  return out;
}

// What came of one request.
struct SeenRequest {
  std::string path, body;
  bool has_ended = false, is_late = false;
  std::string broken;  // the error's name
  int64_t sent = 0;
};

class TestReader final : public StreamReader {
 public:
  explicit TestReader(SeenRequest* seen) : seen_(seen) {}
  std::span<char> room() override { return room_; }
  void came(size_t bytes) override { seen_->body.append(room_.data(), bytes); }
  void end() override { seen_->has_ended = true; }
  void broken(ErrorCode code) override { seen_->broken = error_name(code); }
  void sent(int64_t bytes) override { seen_->sent += bytes; }
  void late() override { seen_->is_late = true; }

 private:
  SeenRequest* const seen_;
  std::array<char, 7> room_ = {};  // a length that fits nothing
};

class TestSession final : public SessionUser {
 public:
  explicit TestSession(const SessionLimits& limits = {}) : session(limits, *this) { lines(); }

  std::shared_ptr<StreamReader> begin_request(uint32_t id, RequestHead&& head) override {
    requests[id].path = head.path;
    return std::make_shared<TestReader>(&requests[id]);
  }
  int64_t running() const override { return running_streams; }

  void begin() { feed(std::string(kPreface) + frame(FrameType::kSettings, 0, 0, "")); }
  void feed(std::string_view bytes) { session.feed(bytes, at_ns); }
  void post(uint32_t id, uint8_t more_flags = 0) {
    feed(frame(FrameType::kHeaders, static_cast<uint8_t>(kEndHeaders | more_flags), id, kPost));
  }
  void answer(uint32_t id, std::string text, bool is_end = true) {
    Answer one;
    one.head = std::make_shared<const HeaderFields>(HeaderFields{{":status", "200"}});
    one.body.push_back({.text = std::move(text)});
    one.is_end = is_end;
    session.answer(id, std::move(one));
  }

  // The frames that have come out since the last call: "SETTINGS ack", "DATA 1 5 end", "GOAWAY 0 PROTOCOL_ERROR".
  std::string lines() {
    session.produce();
    std::string bytes;
    std::array<std::string_view, 64> pieces;
    while (const size_t count = session.out().pieces(pieces)) {
      size_t sent = 0;
      for (size_t i = 0; i < count; ++i) {
        bytes += pieces[i];
        sent += pieces[i].size();
      }
      session.out().sent(sent);
    }
    std::string out;
    while (bytes.size() >= kFrameHeadBytes) {
      const FrameHead head = read_frame_head(bytes.data());
      out += line(head, std::string_view(bytes).substr(kFrameHeadBytes, head.length)) + "\n";
      bytes.erase(0, kFrameHeadBytes + head.length);
    }
    return out;
  }

  std::map<uint32_t, SeenRequest> requests;
  int64_t at_ns = 1, running_streams = 0;
  Session session;

 private:
  static std::string line(const FrameHead& head, std::string_view payload) {
    const auto code = [&](size_t at) {
      return error_name(static_cast<ErrorCode>(read_number(payload.data() + at, 4)));
    };
    const std::string_view end = head.has(kEndStream) ? " end" : "";
    switch (static_cast<FrameType>(head.type)) {
      case FrameType::kData:
        return fmt::format("DATA {} {}{}", head.stream, head.length, end);
      case FrameType::kHeaders:
        return fmt::format("HEADERS {}{}", head.stream, end);
      case FrameType::kReset:
        return fmt::format("RST_STREAM {} {}", head.stream, code(0));
      case FrameType::kSettings:
        return head.has(kAck) ? "SETTINGS ack" : "SETTINGS";
      case FrameType::kPing:
        return fmt::format("PING {}{}", payload, head.has(kAck) ? " ack" : "");
      case FrameType::kGoAway:
        return fmt::format("GOAWAY {} {}", read_number(payload.data(), 4), code(4));
      case FrameType::kWindowUpdate:
        return fmt::format("WINDOW_UPDATE {} {}", head.stream, read_number(payload.data(), 4));
      default:
        return fmt::format("frame {}", head.type);
    }
  }
};

}  // namespace nereid::server::net::http2
