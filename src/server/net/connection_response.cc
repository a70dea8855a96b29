// SPDX-License-Identifier: Apache-2.0
// A connection's responses: what handlers make is taken and sent.
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "server/net/connection.h"

namespace nereid::server::net {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr size_t kOutBytes = 64 << 10;  // taken from the handler while so much is not sent yet
constexpr size_t kPieces = 8;           // of a response, sent by one call

}  // namespace

bool Connection::collect() {
  if (phase_ != Phase::kRunning || writer_.is_whole() || writer_.left() > kOutBytes) return false;
  Exchange::Part part = exchange_->take(static_cast<int64_t>(writer_.left()));
  if (part.is_overrun || (part.is_abandoned && writer_.has_head())) {
    if (part.is_overrun) log_debug("{} reads too slowly; its connection is closed", peer_);
    close();
    return false;
  }
  if (part.is_abandoned) {
    part = {};
    part.has_head = part.is_whole = part.is_end = true;
    part.head =
        host_.router->error({.status = 500, .message = "the request ended without an answer", .path = record_.target});
  }
  if (!part.has_head && part.bytes.empty() && !part.is_end) return false;
  const bool is_end = part.is_end;
  writer_.append(std::move(part), *host_.router, host_.date());
  if (!is_end && writer_.is_whole()) exchange_->break_off();
  return true;
}

bool Connection::write_some() {
  if (phase_ == Phase::kClosed) return false;
  if (!writer_.has_output()) {
    if (writer_.is_whole() && phase_ == Phase::kRunning) return end_response(true), true;
    return false;
  }
  std::array<std::string_view, kPieces> pieces;
  size_t count = 0;
  const Io state = transport_->write_pieces(std::span(pieces).first(writer_.pieces(pieces)), &count);
  if (state == Io::kBroken || state == Io::kEnd) return close(), false;
  if (state != Io::kDone) {
    if (state == Io::kWantWrite) watch_->want_write();
    if (write_deadline_ns_ == kNever) {
      write_deadline_ns_ = now_ns() + host_.settings->write_timeout_ms * kMs;
      host_.expect_by(write_deadline_ns_);
    }
    return false;
  }
  writer_.sent(count);
  write_deadline_ns_ = kNever;
  if (exchange_ != nullptr) exchange_->set_in_flight(static_cast<int64_t>(writer_.left()));
  return true;
}

void Connection::end_response(bool is_complete) {
  host_.requests_running->fetch_sub(1);
  host_.body_bytes->fetch_sub(std::exchange(counted_body_, 0));
  exchange_.reset();
  record_.peer = peer_;
  record_.end_ns = now_ns();
  record_.is_complete = is_complete;
  record_.status = writer_.status() == 0 ? 499 : writer_.status();
  record_.body_bytes = writer_.body_bytes();
  if (*host_.on_done) (*host_.on_done)(record_);
  record_ = {};
  const bool keeps_alive = writer_.keeps_alive();
  writer_.begin({});
  if (!is_complete) return;
  if (!keeps_alive || host_.is_draining->load()) return linger();
  phase_ = Phase::kIdle;
  set_deadline(now_ns() + host_.settings->idle_timeout_ms * kMs);
}

}  // namespace nereid::server::net
