// SPDX-License-Identifier: Apache-2.0
// One connection: its socket, its session, and answers that come from other threads. On its loop's thread.
//
// Everything that can happen (bytes come, the socket takes more, somebody has answered, time is up) leads to pump(),
// which does what can be done now and then asks to be called again.
#pragma once

#include <memory>
#include <string>

#include "server/net/http2/mailbox.h"
#include "server/net/http2/server.h"
#include "server/net/http2/session.h"
#include "server/net/loop.h"
#include "server/net/transport.h"

namespace nereid::server::net::http2 {

class Connection;

// What connections share: the server's side of them.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual void forget(Connection& connection) = 0;
  // Something is due earlier than before.
  virtual void expect_by(int64_t at_ns) = 0;
  virtual std::span<char> scratch() = 0;    // to read into
  virtual Mailbox::Letters& letters() = 0;  // to take answers into
  virtual const std::shared_ptr<Loop>& loop() = 0;
  const ServerOptions* options = nullptr;
};

class Connection final : public SessionUser, public std::enable_shared_from_this<Connection> {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  Connection(ConnectionHost& host, std::string peer);
  // nullptr transport or no room in the loop: false, and the descriptor is closed.
  bool begin(int fd, std::unique_ptr<Transport> transport);

  int64_t deadline_ns() const;
  void on_deadline(int64_t at_ns);
  // What comes is refused, what runs may end.
  void drain();
  void close();

  std::shared_ptr<StreamReader> begin_request(uint32_t id, RequestHead&& head) override;
  int64_t running() const override { return mailbox_->running(); }
  void expect_by(uint32_t id, int64_t at_ns);
  bool is_pumping() const { return is_pumping_; }
  void pump();

 private:
  enum class Phase { kHandshake, kOpen, kLingering, kClosed };
  void advance();
  bool advance_handshake();
  bool wants_input() const;
  bool read_some();
  bool collect();
  bool write_some();
  void linger();
  void ask_again();

  ConnectionHost& host_;
  const std::string peer_;
  std::shared_ptr<Mailbox> mailbox_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Transport> transport_;
  Session session_;
  Phase phase_ = Phase::kHandshake;
  Io read_state_ = Io::kDone;
  int64_t begin_deadline_ns_ = kNever;                           // of the handshake and the preface
  int64_t heard_ns_ = 0;                                         // when bytes came last
  int64_t ping_deadline_ns_ = kNever;                            // of the answer to a ping
  int64_t pings_in_row_ = 0;                                     // without anything else that came
  int64_t age_deadline_ns_ = kNever, end_deadline_ns_ = kNever;  // of a connection that has a longest age
  bool is_pumping_ = false, is_read_out_ = false, is_eof_ = false;
};

}  // namespace nereid::server::net::http2
