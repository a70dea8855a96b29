// SPDX-License-Identifier: Apache-2.0
// Unary gRPC calls of one method with one message, one after the other on a connection: HTTP/2 (RFC 9113) as far as
// that needs it, in a few microseconds a call, so that a load measures the server. Pure: bytes in, bytes out.
//
// What it says of itself: no dynamic table for the server's headers, so that a status can be read where it stands;
// windows so wide that the server never waits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nereid::server::load {

class GrpcCaller {
 public:
  // `path` is "/package.Service/Method"; the message is shared with whoever else sends it.
  GrpcCaller(std::string_view authority, std::string_view path, std::shared_ptr<const std::string> message);

  // The next call; the one before is done.
  void begin();
  // What can be sent now, as pieces, at most `most.size()`; how many there are. They stay until sent() or feed().
  size_t pieces(std::span<std::string_view> most) const;
  void sent(size_t bytes);
  void feed(std::string_view bytes);

  bool is_done() const { return is_done_; }
  // A sentence where the call, or the whole connection, failed.
  const std::string& error() const { return error_; }
  bool is_broken() const { return is_broken_; }  // the connection carries no more calls
  int64_t answer_bytes() const { return answer_bytes_ > 0 ? answer_bytes_ - kPrefix : 0; }  // of the message

 private:
  static constexpr int64_t kPrefix = 5;  // of a gRPC message: a flag and its length
  struct Frame {
    uint8_t type = 0, flags = 0;
    uint32_t stream = 0;
    std::string_view payload;
  };
  void take(const Frame& frame);
  void take_data_piece(std::string_view bytes);
  void take_settings(const Frame& frame);
  void take_headers(const Frame& frame);
  void make_heads(size_t payload_bytes);
  void allow();
  bool is_between_frames() const;
  void fail(std::string why, bool breaks);

  const std::string authority_, path_;
  const std::shared_ptr<const std::string> message_;
  std::string control_;  // frames that go before the rest of the data
  size_t control_sent_ = 0;
  // The message's frames: heads, whose stream is written into them for each call, and the prefix behind the first.
  std::string heads_;
  std::string message_prefix_;
  size_t payload_bytes_ = 0, peer_payload_ = 16'384;          // of a frame: in heads_, and what the server takes
  size_t data_bytes_ = 0, data_sent_ = 0, data_allowed_ = 0;  // of all frames, heads and all
  std::string in_;                                            // of a frame that is not whole
  Frame data_frame_;                                          // whose payload comes: it is counted, not kept
  size_t data_left_ = 0;
  uint32_t stream_ = 0;
  bool is_first_ = true, is_done_ = true, is_broken_ = false;
  int64_t connection_window_ = 65'535, stream_window_ = 0, initial_window_ = 65'535;
  int64_t received_ = 0;  // of the connection's window, not given back yet
  int64_t answer_bytes_ = 0, answer_length_ = -1;
  std::string prefix_, error_;
};

}  // namespace nereid::server::load
