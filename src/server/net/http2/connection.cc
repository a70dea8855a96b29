// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/connection.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace nereid::server::net::http2 {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kBeginMs = 20'000;  // for the handshake and the preface
constexpr int64_t kLingerMs = 1'000;  // for a client to read why while it still sends
constexpr size_t kReadsAtOnce = 16;   // of one connection before others get their turn
constexpr size_t kPieces = 64;        // sent by one call
constexpr size_t kPingBytes = kFrameHeadBytes + 8;

class Writer final : public StreamWriter {
 public:
  Writer(std::shared_ptr<Mailbox> mailbox, std::weak_ptr<Connection> connection, uint32_t id)
      : mailbox_(std::move(mailbox)), connection_(std::move(connection)), id_(id) {
    mailbox_->count(1);
  }
  ~Writer() override {
    mailbox_->count(-1);
    if (is_ended_) return;
    Answer answer;
    answer.reset = ErrorCode::kInternal;
    mailbox_->put(id_, std::move(answer));
  }
  void send(Answer answer) override {
    if (answer.is_end || answer.trailers != nullptr || answer.reset) is_ended_ = true;
    mailbox_->put(id_, std::move(answer));
  }
  void set_deadline(int64_t at_ns) override {
    if (const auto connection = connection_.lock()) connection->expect_by(id_, at_ns);
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
  const std::weak_ptr<Connection> connection_;
  const uint32_t id_;
  std::atomic<bool> is_ended_{false};
};

}  // namespace

Connection::Connection(ConnectionHost& host, std::string peer)
    : host_(host), peer_(std::move(peer)), session_(host.options->limits, *this) {}

bool Connection::begin(int fd, std::unique_ptr<Transport> transport) {
  mailbox_ = std::make_shared<Mailbox>([loop = host_.loop(), weak = weak_from_this()] {
    // Who answers at once is called by pump(), which looks by itself.
    if (loop->is_here())
      if (const auto self = weak.lock(); self != nullptr && self->is_pumping()) return;
    loop->post([weak] {
      if (const auto self = weak.lock()) self->pump();
    });
  });
  watch_ = host_.loop()->watch(fd, [this] { pump(); });
  transport_ = std::move(transport);
  if (watch_ == nullptr || transport_ == nullptr) return false;
  const KeepAlive& keep = host_.options->keep_alive;
  heard_ns_ = now_ns();
  begin_deadline_ns_ = heard_ns_ + kBeginMs * kMs;
  if (keep.max_age_ms < KeepAlive::kNever) age_deadline_ns_ = heard_ns_ + keep.max_age_ms * kMs;
  host_.expect_by(deadline_ns());
  pump();
  return true;
}

std::shared_ptr<StreamReader> Connection::begin_request(uint32_t id, RequestHead&& head) {
  head.peer = peer_;
  return host_.options->serve(std::move(head), std::make_shared<Writer>(mailbox_, weak_from_this(), id));
}

void Connection::expect_by(uint32_t id, int64_t at_ns) {
  session_.set_deadline(id, at_ns);
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
    moved = collect() || moved;
    session_.produce();
    moved = write_some() || moved;
  }
  if (phase_ == Phase::kClosed) return;
  if (is_eof_) return close();
  const bool is_over = session_.is_broken() || (session_.is_draining() && !session_.has_streams());
  if (phase_ == Phase::kOpen && is_over && session_.out().empty()) linger();
}

// Closing a socket with unread input would take the last frames away from the client, too.
void Connection::linger() {
  phase_ = Phase::kLingering;
  transport_->end_writes();
  end_deadline_ns_ = std::min(end_deadline_ns_, now_ns() + kLingerMs * kMs);
  host_.expect_by(end_deadline_ns_);
}

bool Connection::advance_handshake() {
  const Io state = transport_->handshake();
  if (state == Io::kWantRead) watch_->want_read();
  if (state == Io::kWantWrite) watch_->want_write();
  if (state == Io::kEnd || state == Io::kBroken) close();
  if (state != Io::kDone) return false;
  phase_ = Phase::kOpen;
  return true;
}

bool Connection::wants_input() const {
  return !is_eof_ && (phase_ == Phase::kLingering || !session_.is_broken());
}

bool Connection::read_some() {
  if (!wants_input() || is_read_out_) return false;
  const bool is_lingering = phase_ == Phase::kLingering;
  const std::span<char> scratch = host_.scratch();
  const std::span<char> direct = is_lingering ? std::span<char>() : session_.body_room();
  const std::array<std::span<char>, 2> pieces = {direct.empty() ? scratch : direct, scratch};
  size_t count = 0;
  read_state_ = transport_->read_pieces(std::span(pieces).first(direct.empty() ? 1 : 2), &count);
  if (read_state_ != Io::kDone) {
    is_read_out_ = true;
    is_eof_ = read_state_ == Io::kEnd || read_state_ == Io::kBroken;
    return false;
  }
  is_read_out_ = count < direct.size() + scratch.size() && !transport_->keeps_bytes();
  if (is_lingering) return true;
  heard_ns_ = now_ns();
  ping_deadline_ns_ = kNever;
  if (count > kPingBytes) pings_in_row_ = 0;
  const size_t of_body = std::min(count, direct.size());
  if (of_body > 0) session_.body_came(of_body);
  if (count > of_body) session_.feed({scratch.data(), count - of_body}, heard_ns_);
  if (session_.has_preface()) begin_deadline_ns_ = kNever;
  return true;
}

bool Connection::collect() {
  Mailbox::Letters& letters = host_.letters();
  mailbox_->take(&letters);
  for (auto& [id, answer] : letters) session_.answer(id, std::move(answer));
  const bool any = !letters.empty();
  letters.clear();
  return any;
}

bool Connection::write_some() {
  OutQueue& out = session_.out();
  std::array<std::string_view, kPieces> pieces;
  const size_t count = out.pieces(pieces);
  if (count == 0) return false;
  size_t sent = 0;
  const Io state = transport_->write_pieces(std::span(pieces).first(count), &sent);
  if (state == Io::kBroken || state == Io::kEnd) return close(), false;
  if (state != Io::kDone) {
    if (state == Io::kWantWrite) watch_->want_write();
    return false;
  }
  out.sent(sent);
  return true;
}

void Connection::ask_again() {
  if (phase_ == Phase::kHandshake) return;
  if (!session_.out().empty()) watch_->want_write();
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

void Connection::drain() {
  if (phase_ == Phase::kHandshake) return close();
  session_.drain();
  pump();
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  const std::shared_ptr<Connection> self = shared_from_this();
  phase_ = Phase::kClosed;
  mailbox_->close();
  session_.lose();
  session_.out().clear();
  transport_.reset();
  watch_->close();
  host_.forget(*this);
}

}  // namespace nereid::server::net::http2
