// SPDX-License-Identifier: Apache-2.0
#include "server/net/connection.h"

#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace nereid::server::net {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLingerMs = 2'000;  // for a client to read an error while it still sends
// Of one connection before others get their turn: a body that is there is read whole, while it is in the cache.
constexpr size_t kReadsAtOnce = 16;

}  // namespace

Connection::Connection(ConnectionHost& host, std::string peer, bool is_refused)
    : host_(host), peer_(std::move(peer)), is_refused_(is_refused) {}

Connection::~Connection() = default;

bool Connection::begin(int fd, std::unique_ptr<Transport> transport) {
  watch_ = host_.loop()->watch(fd, [this] { pump(); });
  transport_ = std::move(transport);
  if (watch_ == nullptr || transport_ == nullptr) return false;
  set_deadline(now_ns() + host_.settings->header_timeout_ms * kMs);
  pump();
  return true;
}

void Connection::set_deadline(int64_t at_ns) {
  deadline_ns_ = at_ns;
  host_.expect_by(at_ns);
}

void Connection::pump() {
  if (is_pumping_ || phase_ == Phase::kClosed) return;
  const std::shared_ptr<Connection> self = shared_from_this();
  is_pumping_ = true;
  is_read_out_ = false;
  // The rim: where there is no more memory this connection goes, and the others stay.
  try {
    advance();
  } catch (const std::exception& e) {
    log_error("the connection of {} is closed: {}", peer_, e.what());
    close();
  }
  is_pumping_ = false;
  if (phase_ != Phase::kClosed) ask_again();
}

void Connection::advance() {
  bool moved = true;
  for (size_t reads = 0; moved && phase_ != Phase::kClosed;) {
    moved = false;
    if (phase_ == Phase::kHandshake) {
      moved = advance_handshake();
      continue;
    }
    if (reads < kReadsAtOnce && read_some()) moved = ++reads > 0;
    moved = parse_some() || moved;
    moved = collect() || moved;
    moved = write_some() || moved;
  }
  // A client that sends no more has gone, unless what it asked for is on its way already.
  if (is_eof_ && phase_ != Phase::kClosed && !(writer_.is_whole() && writer_.has_output())) close();
}

bool Connection::advance_handshake() {
  const Io state = transport_->handshake();
  if (state == Io::kWantRead) watch_->want_read();
  if (state == Io::kWantWrite) watch_->want_write();
  if (state == Io::kEnd || state == Io::kBroken) close();
  if (state != Io::kDone) return false;
  phase_ = Phase::kIdle;
  set_deadline(now_ns() + host_.settings->idle_timeout_ms * kMs);
  if (is_refused_)
    answer_error({.status = 503, .message = "the server has all the connections that it takes", .path = {}});
  return true;
}

// Closing a socket with unread input would take the response away from the client, too.
void Connection::linger() {
  transport_->end_writes();
  phase_ = Phase::kLingering;  // the request has ended: close() must not end it again
  if (is_eof_) return close();
  in_ = {};
  set_deadline(now_ns() + kLingerMs * kMs);
}

void Connection::ask_again() {
  if (phase_ == Phase::kHandshake) return;
  if (writer_.has_output()) watch_->want_write();
  if (!wants_input()) return;
  if (read_state_ == Io::kWantWrite) {
    watch_->want_write();
  } else if (read_state_ == Io::kDone && transport_->keeps_bytes()) {
    // Whether more can be read at once is not known when reading stopped early; asking tells.
    host_.loop()->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->pump();
    });
  } else {
    watch_->want_read();
  }
}

void Connection::on_deadline(int64_t at_ns) {
  if (phase_ == Phase::kClosed || deadline_ns() > at_ns) return;
  if (write_deadline_ns_ <= at_ns) return close();
  switch (phase_) {
    case Phase::kReading: {
      const bool in_head = parser_->state() == RequestParser::State::kHead;
      const int64_t limit = in_head ? host_.settings->header_timeout_ms : host_.settings->body_timeout_ms;
      answer_error(
          {.status = 408,
           .message = fmt::format("the request's {} was not there within {} ms", in_head ? "head" : "body", limit),
           .path = {}});
      pump();
      return;
    }
    case Phase::kRunning:
      cut_off();
      return;
    default:
      close();
      return;
  }
}

void Connection::drain() {
  if (phase_ == Phase::kIdle || phase_ == Phase::kHandshake) return close();
  writer_.close_after();
}

void Connection::cut_off() {
  if (phase_ == Phase::kReading || phase_ == Phase::kIdle) return close();
  if (phase_ != Phase::kRunning || writer_.is_whole()) return;
  exchange_->break_off();
  if (writer_.has_head()) return close();
  const bool is_stopping = host_.is_draining->load();
  const std::string message =
      is_stopping ? std::string("the server is stopping")
                  : fmt::format("the request took longer than {} ms", host_.settings->request_timeout_ms);
  writer_.close_after();
  deadline_ns_ = kNever;
  writer_.append_whole(
      host_.router->error({.status = is_stopping ? 503 : 504, .message = message, .path = record_.target}),
      *host_.router, host_.date());
  pump();
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  const std::shared_ptr<Connection> self = shared_from_this();
  const bool was_running = phase_ == Phase::kRunning;
  phase_ = Phase::kClosed;
  deadline_ns_ = write_deadline_ns_ = kNever;
  if (exchange_ != nullptr) exchange_->break_off();
  if (was_running) end_response(false);
  host_.body_bytes->fetch_sub(std::exchange(counted_body_, 0));
  transport_.reset();
  watch_->close();
  host_.forget(*this);
}

}  // namespace nereid::server::net
