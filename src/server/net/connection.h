// SPDX-License-Identifier: Apache-2.0
// One connection: requests one after the other, each answered before the next is looked at. On its loop's thread.
//
// Everything that can happen (bytes come, the socket takes more, the handler has something, time is up) leads to
// pump(), which does whatever can be done now and then asks to be called again.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "server/net/exchange.h"
#include "server/net/loop.h"
#include "server/net/request_parser.h"
#include "server/net/response_writer.h"
#include "server/net/server.h"
#include "server/net/transport.h"

namespace nereid::server::net {

class Connection;

// What connections share: the server's side of them.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual void forget(Connection& connection) = 0;
  // Something is due earlier than before.
  virtual void expect_by(int64_t at_ns) = 0;
  virtual std::span<char> scratch() = 0;  // to read into
  virtual std::string_view date() = 0;    // of the second
  virtual void run_on_worker(std::function<void()> task) = 0;
  virtual const std::shared_ptr<Loop>& loop() = 0;

  const Settings* settings = nullptr;
  const Router* router = nullptr;
  const std::function<void(const RequestRecord&)>* on_done = nullptr;
  std::shared_ptr<BytePool> pool;  // of long bodies
  std::atomic<bool>* is_draining = nullptr;
  std::atomic<int64_t>* requests_running = nullptr;
  std::atomic<int64_t>* body_bytes = nullptr;  // of requests that are not whole yet, or run
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  Connection(ConnectionHost& host, std::string peer, bool is_refused);
  ~Connection();
  // nullptr transport or no room in the loop: false, and the descriptor is closed.
  bool begin(int fd, std::unique_ptr<Transport> transport);

  int64_t deadline_ns() const { return std::min(deadline_ns_, write_deadline_ns_); }
  void on_deadline(int64_t at_ns);
  // The server ends: what is idle goes now, what runs is the last of its connection.
  void drain();
  // What runs is told to stop, and answered with 503 where its response has not begun.
  void cut_off();
  void close();

 private:
  enum class Phase { kHandshake, kIdle, kReading, kRunning, kLingering, kClosed };

  void pump();
  void advance();
  bool advance_handshake();
  bool read_some();
  bool read_body(std::span<char> room);
  size_t receive(std::span<char> room);
  bool parse_some();
  bool take_body(size_t bytes);
  bool collect();
  bool write_some();
  void ask_again();
  bool refuse_stranger();
  void dispatch();
  void hand_over(Request request, std::shared_ptr<Responder> responder);
  void answer_error(HttpError error);
  void begin_exchange();
  void end_response(bool is_complete);
  void linger();
  void set_deadline(int64_t at_ns);
  bool wants_input() const;

  ConnectionHost& host_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Transport> transport_;
  std::optional<RequestParser> parser_;
  std::shared_ptr<Exchange> exchange_;
  std::string in_;  // not understood yet
  ResponseWriter writer_;
  RequestRecord record_;
  const std::string peer_;
  int64_t deadline_ns_ = kNever, write_deadline_ns_ = kNever;
  int64_t requests_ = 0, counted_body_ = 0;
  Phase phase_ = Phase::kHandshake;
  Io read_state_ = Io::kDone;
  bool is_pumping_ = false;
  bool is_eof_ = false;
  bool is_read_out_ = false;  // the system has no more bytes at the moment
  bool has_sent_continue_ = false;
  bool is_refused_ = false;
};

}  // namespace nereid::server::net
