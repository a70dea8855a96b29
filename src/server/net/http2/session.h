// SPDX-License-Identifier: Apache-2.0
// One connection's protocol, of the server's side (RFC 9113): frames in, requests out of them, answers into frames.
// Pure: it knows no socket, no thread and no clock; time comes in as numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server/net/http2/abuse_budget.h"
#include "server/net/http2/frame.h"
#include "server/net/http2/hpack_decoder.h"
#include "server/net/http2/hpack_encoder.h"
#include "server/net/http2/out_queue.h"
#include "server/net/http2/stream.h"

namespace nereid::server::net::http2 {

struct SessionLimits {
  int64_t stream_window = int64_t{8} << 20, connection_window = int64_t{64} << 20;  // bytes that may be on their way
  uint32_t max_frame = 1 << 20;                                                     // of bodies
  size_t max_header_bytes = 32 << 10;  // of a request, as SETTINGS_MAX_HEADER_LIST_SIZE counts
  int64_t max_streams = 4096;          // at one time, those included that were taken back and still run
  // Pings that come faster than this while nothing is sent are counted; more than so many of them end the connection.
  int64_t ping_interval_ns = 300'000'000'000, max_ping_strikes = 2;  // 0 strikes: any number
};

// Who serves the session's requests. On the loop's thread.
class SessionUser {
 public:
  virtual ~SessionUser() = default;
  // Never nullptr. `id` is what Session::answer() names it by.
  virtual std::shared_ptr<StreamReader> begin_request(uint32_t id, RequestHead&& head) = 0;
  // Requests whose writer somebody still has.
  virtual int64_t running() const = 0;
};

class Session {
 public:
  Session(const SessionLimits& limits, SessionUser& user);

  // ---- what comes
  // Where the next bytes are to go, because they are a body's; empty: they go to feed().
  std::span<char> body_room();
  void body_came(size_t bytes);
  void feed(std::string_view bytes, int64_t at_ns);
  // Nothing comes any more: tells everybody. The session is over.
  void lose();

  // ---- what is said
  void answer(uint32_t id, Answer&& answer);
  void set_deadline(uint32_t id, int64_t at_ns);
  void ping();
  // No new requests; those there are go on.
  void drain();
  // Puts into out() what the client's windows allow.
  void produce();
  OutQueue& out() { return out_; }

  // ---- what a connection has to know
  // Nothing more is read; it ends when out() is sent.
  bool is_broken() const { return is_broken_; }
  ErrorCode error() const { return error_; }
  bool has_streams() const { return !streams_.empty(); }
  bool is_draining() const { return is_draining_; }
  bool has_preface() const { return state_ != State::kBegin; }
  // The earliest of all streams, INT64_MAX: none; and those whose time is over are told.
  int64_t deadline_ns() const;
  void on_deadline(int64_t at_ns);
  int64_t body_bytes() const { return body_bytes_; }  // of all requests, so far

 private:
  enum class State { kBegin, kHead, kBody, kSkip };
  struct Stream {
    uint32_t id = 0;
    std::shared_ptr<StreamReader> reader;
    int64_t recv_left = 0, recv_owed = 0;  // of the window: what may come, what has come and is not given back
    int64_t send_window = 0;
    int64_t content_length = -1, body_bytes = 0;
    bool has_ended = false;         // the client
    bool has_head = false;          // of the answer
    bool is_whole = false;          // the answer is all there, in `pending` and `trailers`
    bool is_queued = false;         // in ready_
    std::deque<BodyPiece> pending;  // the first without what has gone
    int64_t pending_bytes = 0;
    SharedFields trailers;
    int64_t deadline_ns = INT64_MAX;
  };

  size_t take(std::string_view bytes);
  size_t take_preface(std::string_view bytes);
  size_t take_frame(std::string_view bytes);
  size_t take_body(std::string_view bytes);
  size_t wanted() const;
  bool check_head(const FrameHead& head);
  void on_frame(const FrameHead& head, std::string_view payload);
  void begin_data(const FrameHead& head, size_t padding);
  void end_data();
  void on_headers(const FrameHead& head, std::string_view payload);
  void on_continuation(const FrameHead& head, std::string_view payload);
  void on_block(uint32_t id, std::string_view block, bool is_end);
  void on_trailers(Stream& stream, const HeaderFields& fields, bool is_end);
  void on_settings(const FrameHead& head, std::string_view payload);
  void apply_setting(Setting setting, uint32_t value);
  void on_ping(const FrameHead& head, std::string_view payload);
  void on_reset(const FrameHead& head);
  void on_window_update(const FrameHead& head, std::string_view payload);
  void end_request(Stream& stream);

  Stream* find(uint32_t id) const;
  bool is_idle(uint32_t id) const { return id > last_stream_ || id % 2 == 0; }
  bool was_cut_off(uint32_t id) const;
  // The connection cannot go on.
  void fail(ErrorCode code, std::string_view text);
  // A stream cannot; its reader is told.
  void reset(uint32_t id, ErrorCode code);
  // `is_cut`: the client may still send.
  void forget(uint32_t id, bool is_cut);
  void give_back(int64_t bytes);
  void drop_pending(Stream& stream);
  void queue(Stream& stream);
  void write_headers(uint32_t id, const HeaderFields& fields, bool is_end);
  void write_data(Stream& stream, int64_t bytes, bool is_end);
  bool produce_some(Stream& stream);
  void spend(int64_t points);

  const SessionLimits limits_;
  SessionUser& user_;
  HpackDecoder decoder_;
  HpackEncoder encoder_;
  OutQueue out_;
  AbuseBudget budget_;
  std::unordered_map<uint32_t, std::unique_ptr<Stream>> streams_;
  std::deque<uint32_t> ready_;    // with something to send, each once
  std::deque<uint32_t> cut_off_;  // ended by us while the client may still send: what comes for them is dropped

  State state_ = State::kBegin;
  std::string in_;         // the beginning of what is not whole
  FrameHead frame_;        // of the body that is being read
  size_t frame_left_ = 0;  // of its payload, padding aside
  size_t padding_left_ = 0;
  Stream* reading_ = nullptr;  // whose; nullptr: nobody's
  size_t skip_left_ = 0;

  uint32_t block_stream_ = 0;  // whose header block goes on; 0: none does
  bool block_ends_ = false;
  int block_frames_ = 0;
  std::string block_;

  uint32_t last_stream_ = 0;
  int64_t recv_left_ = kFirstWindow, recv_owed_ = 0;
  int64_t send_window_ = kFirstWindow, first_send_window_ = kFirstWindow;
  uint32_t max_frame_out_ = kLeastMaxFrame;
  int64_t at_ns_ = 0, body_bytes_ = 0;
  int64_t pending_bytes_ = 0;  // of all answers
  int64_t last_ping_ns_ = 0, ping_strikes_ = 0;
  bool has_settings_ = false, is_broken_ = false, is_draining_ = false;
  ErrorCode error_ = ErrorCode::kNone;
};

}  // namespace nereid::server::net::http2
