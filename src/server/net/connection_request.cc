// SPDX-License-Identifier: Apache-2.0
// A connection's requests: what comes is read, understood and handed to its handler.
#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "server/net/connection.h"
#include "server/net/content_coding.h"

namespace nereid::server::net {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kMaxBodyBytes = int64_t{1} << 30;  // of all requests that are being read or run

// How much of a body its handler looks at.
size_t computed_bytes(const Endpoint& endpoint, const Request& request) {
  const size_t all = request.body.size();
  if (endpoint.loop_header.empty() || all > Endpoint::kMostLoopBody) return all;
  const std::string_view text = request.headers.get(endpoint.loop_header);
  size_t bytes = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return text.empty() || error != std::errc() || stop != text.data() + text.size() ? all : std::min(bytes, all);
}

}  // namespace

bool Connection::wants_input() const {
  if (is_eof_ || phase_ == Phase::kClosed) return false;
  // Beyond a head's worth, requests that are ahead of their turn wait in the system's buffers.
  return phase_ == Phase::kLingering || in_.size() < static_cast<size_t>(host_.settings->max_header_bytes);
}

bool Connection::read_some() {
  if (!wants_input() || is_read_out_) return false;
  // A body of known length goes where it is to stay.
  if (phase_ == Phase::kReading && in_.empty())
    if (const std::span<char> room = parser_->body_room(); !room.empty()) return read_body(room);
  const std::span<char> scratch = host_.scratch();
  const size_t room = phase_ == Phase::kLingering || phase_ == Phase::kReading
                          ? scratch.size()
                          : std::min(scratch.size(), static_cast<size_t>(host_.settings->max_header_bytes));
  const size_t count = receive(scratch.first(room));
  if (count > 0 && phase_ != Phase::kLingering) in_.append(scratch.data(), count);
  return count > 0;
}

bool Connection::read_body(std::span<char> room) {
  const size_t count = receive(room);
  if (count == 0) return false;
  parser_->body_came(count);
  take_body(count);
  return true;
}

// 0: nothing came.
size_t Connection::receive(std::span<char> room) {
  size_t count = 0;
  read_state_ = transport_->read(room.data(), room.size(), &count);
  if (read_state_ == Io::kDone) {
    is_read_out_ = count < room.size() && !transport_->keeps_bytes();
    return count;
  }
  is_read_out_ = true;
  if (read_state_ == Io::kEnd || read_state_ == Io::kBroken) {
    is_eof_ = true;
    if (read_state_ == Io::kBroken) close();
  }
  return 0;
}

bool Connection::parse_some() {
  if ((phase_ != Phase::kIdle && phase_ != Phase::kReading) || in_.empty()) return false;
  const Settings& s = *host_.settings;
  if (phase_ == Phase::kIdle) {
    phase_ = Phase::kReading;
    parser_.emplace(s, host_.pool);
    has_sent_continue_ = false;
    record_ = {.method = {}, .target = {}, .peer = {}, .endpoint = {}, .begin_ns = now_ns()};
    set_deadline(record_.begin_ns + s.header_timeout_ms * kMs);
  }
  const bool was_head = parser_->state() == RequestParser::State::kHead;
  const size_t taken = parser_->feed(in_);
  in_.erase(0, taken);
  if (in_.empty() && in_.capacity() > 4096) in_ = {};
  switch (parser_->state()) {
    case RequestParser::State::kHead:
      return taken > 0 && !in_.empty();
    case RequestParser::State::kFailed:
      answer_error(parser_->error());
      return true;
    case RequestParser::State::kDone:
      dispatch();
      return true;
    case RequestParser::State::kBody:
      break;
  }
  if (was_head && refuse_stranger()) return true;
  if (was_head) set_deadline(now_ns() + s.body_timeout_ms * kMs);
  if (take_body(taken)) return true;
  if (parser_->expects_continue() && !std::exchange(has_sent_continue_, true)) {
    writer_.append_continue();
    return true;
  }
  // A line between chunks that does not end.
  if (taken == 0 && in_.size() >= static_cast<size_t>(s.max_header_bytes)) {
    answer_error({.status = 400, .message = "a chunk of the request's body has no valid beginning", .path = {}});
    return true;
  }
  return taken > 0 && !in_.empty();
}

// Bytes of the body that the parser has got. True: the request has ended, one way or the other.
bool Connection::take_body(size_t bytes) {
  counted_body_ += static_cast<int64_t>(bytes);
  if (host_.body_bytes->fetch_add(static_cast<int64_t>(bytes)) > kMaxBodyBytes) {
    answer_error({.status = 503, .message = "the server holds all the request bodies that it can", .path = {}});
    return true;
  }
  if (parser_->state() != RequestParser::State::kDone) return false;
  dispatch();
  return true;
}

// Who shows no key need not send a body, and is not listened to.
bool Connection::refuse_stranger() {
  const Request head = parser_->head();
  std::optional<HttpError> error = host_.router->stranger(head);
  if (!error) return false;
  record_.method = head.method;
  record_.target = head.target;
  answer_error(std::move(*error));
  return true;
}

void Connection::begin_exchange() {
  phase_ = Phase::kRunning;
  host_.requests_running->fetch_add(1);
  exchange_ =
      std::make_shared<Exchange>(host_.settings->stream_queue_bytes, [loop = host_.loop(), weak = weak_from_this()] {
        // A handler that answers before it returns need not call back who calls it.
        if (loop->is_here())
          if (const auto self = weak.lock(); self != nullptr && self->is_pumping_) return;
        loop->post([weak] {
          if (const auto self = weak.lock()) self->pump();
        });
      });
}

void Connection::dispatch() {
  const Settings& s = *host_.settings;
  Request request = parser_->take();
  request.peer = peer_;
  ++requests_;
  writer_.begin({.is_http_1_0 = parser_->is_http_1_0(),
                 .is_head_request = request.method == "HEAD",
                 .keeps_alive = parser_->keeps_alive() && !host_.is_draining->load() &&
                                (s.max_requests_per_connection == 0 || requests_ < s.max_requests_per_connection)});
  parser_.reset();
  request.begin_ns = record_.begin_ns;
  record_.method = request.method;
  record_.target = request.target;
  begin_exchange();
  set_deadline(s.request_timeout_ms > 0 ? now_ns() + s.request_timeout_ms * kMs : kNever);

  std::shared_ptr<Responder> responder =
      compressing(Exchange::responder(exchange_), accepts_gzip(request.headers.get("Accept-Encoding")), s.gzip_bytes);
  // The rim: a responder that nobody has any more answers 500.
  try {
    hand_over(std::move(request), std::move(responder));
  } catch (const std::exception& e) {
    log_error("a request failed: {}", e.what());
  }
}

void Connection::hand_over(Request request, std::shared_ptr<Responder> responder) {
  Router::Match match = host_.router->match(request);
  if (match.endpoint == nullptr) return responder->send(std::move(match.response));
  record_.endpoint = match.endpoint->pattern;
  if (match.endpoint->runs == Runs::kOnLoop) return match.endpoint->handle(std::move(request), std::move(responder));
  if (host_.is_draining->load())
    return responder->send(
        host_.router->error({.status = 503, .message = "the server is stopping", .path = request.path}));
  if (match.endpoint->loop_bytes > 0 && computed_bytes(*match.endpoint, request) <= match.endpoint->loop_bytes &&
      !request.headers.has("Content-Encoding"))
    return match.endpoint->handle(std::move(request), std::move(responder));
  host_.run_on_worker([handle = &match.endpoint->handle, router = host_.router,
                       most_bytes = host_.settings->max_body_bytes, r = std::make_shared<Request>(std::move(request)),
                       responder = std::move(responder)]() mutable {
    // A client that has gone while its request waited needs no answer.
    if (responder->is_closed()) return;
    if (const std::optional<HttpError> error = decode_body(r.get(), most_bytes))
      return responder->send(router->error(*error));
    (*handle)(std::move(*r), std::move(responder));
  });
}

// For requests that no handler sees. The rest of what the client sends is not understood, so this is the last.
void Connection::answer_error(HttpError error) {
  writer_.begin({});
  if (record_.begin_ns == 0) record_.begin_ns = now_ns();
  parser_.reset();
  in_ = {};
  begin_exchange();
  set_deadline(kNever);
  exchange_->send(host_.router->error(error));
}

}  // namespace nereid::server::net
