// SPDX-License-Identifier: Apache-2.0
#include "server/net/connection.h"

#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "server/net/content_coding.h"
#include "server/net/response_text.h"

namespace nereid::server::net {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLingerMs = 2'000;                 // for a client to read an error while it still sends
constexpr size_t kReadsAtOnce = 4;                   // scratch buffers of one connection before others get their turn
constexpr int64_t kMaxBodyBytes = int64_t{1} << 30;  // of all requests that are being read or run
constexpr size_t kOutBytes = 64 << 10;               // taken from the handler while so much is not sent yet

bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

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
  if (is_eof_ && phase_ != Phase::kClosed && !(is_response_whole_ && has_output())) close();
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

bool Connection::wants_input() const {
  if (is_eof_ || phase_ == Phase::kClosed) return false;
  // Beyond a head's worth, requests that are ahead of their turn wait in the system's buffers.
  return phase_ == Phase::kLingering || in_.size() < static_cast<size_t>(host_.settings->max_header_bytes);
}

bool Connection::read_some() {
  if (!wants_input()) return false;
  const std::span<char> scratch = host_.scratch();
  const size_t room = phase_ == Phase::kLingering || phase_ == Phase::kReading
                          ? scratch.size()
                          : std::min(scratch.size(), static_cast<size_t>(host_.settings->max_header_bytes));
  size_t count = 0;
  read_state_ = transport_->read(scratch.data(), room, &count);
  if (read_state_ == Io::kEnd || read_state_ == Io::kBroken) {
    is_eof_ = true;
    if (read_state_ == Io::kBroken) close();
    return false;
  }
  if (read_state_ != Io::kDone) return false;
  if (phase_ != Phase::kLingering) in_.append(scratch.data(), count);
  return true;
}

bool Connection::parse_some() {
  if ((phase_ != Phase::kIdle && phase_ != Phase::kReading) || in_.empty()) return false;
  const Settings& s = *host_.settings;
  if (phase_ == Phase::kIdle) {
    phase_ = Phase::kReading;
    parser_.emplace(s);
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
  counted_body_ += static_cast<int64_t>(taken);
  if (host_.body_bytes->fetch_add(static_cast<int64_t>(taken)) > kMaxBodyBytes) {
    answer_error({.status = 503, .message = "the server holds all the request bodies that it can", .path = {}});
    return true;
  }
  if (parser_->expects_continue() && !std::exchange(has_sent_continue_, true)) {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    return true;
  }
  // A line between chunks that does not end.
  if (taken == 0 && in_.size() >= static_cast<size_t>(s.max_header_bytes)) {
    answer_error({.status = 400, .message = "a chunk of the request's body has no valid beginning", .path = {}});
    return true;
  }
  return taken > 0 && !in_.empty();
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
  has_head_ = is_response_whole_ = is_chunked_ = false;
  host_.requests_running->fetch_add(1);
  exchange_ =
      std::make_shared<Exchange>(host_.settings->stream_queue_bytes, [loop = host_.loop(), weak = weak_from_this()] {
        loop->post([weak] {
          if (const auto self = weak.lock()) self->pump();
        });
      });
}

void Connection::dispatch() {
  const Settings& s = *host_.settings;
  Request request = parser_->take();
  request.peer = peer_;
  is_http_1_0_ = parser_->is_http_1_0();
  is_head_request_ = request.method == "HEAD";
  ++requests_;
  keeps_alive_ = parser_->keeps_alive() && !host_.is_draining->load() &&
                 (s.max_requests_per_connection == 0 || requests_ < s.max_requests_per_connection);
  parser_.reset();
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
  if (match.endpoint->loop_bytes >= request.body.size() && match.endpoint->loop_bytes > 0 &&
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
  is_http_1_0_ = is_head_request_ = keeps_alive_ = false;
  if (record_.begin_ns == 0) record_.begin_ns = now_ns();
  parser_.reset();
  in_ = {};
  begin_exchange();
  set_deadline(kNever);
  exchange_->send(host_.router->error(error));
}

void Connection::append_response_head(const Response& head, bool is_whole) {
  has_head_ = true;
  record_.status = head.status;
  append_head(&out_, head.status, head.headers);
  Headers more;
  host_.router->add_origin_headers(&more);
  for (const auto& [name, value] : more) append_header(&out_, name, value);
  if (is_whole && !has_no_body(head.status)) {
    append_header(&out_, "Content-Length", std::to_string(head.body.size()));
  } else if (!is_whole && !is_http_1_0_) {
    is_chunked_ = true;
    append_header(&out_, "Transfer-Encoding", "chunked");
  } else if (!is_whole) {
    keeps_alive_ = false;  // HTTP/1.0: the end of the connection is the end of the body
  }
  append_header(&out_, "Date", host_.date());
  if (!keeps_alive_) append_header(&out_, "Connection", "close");
  if (keeps_alive_ && is_http_1_0_) append_header(&out_, "Connection", "keep-alive");
  out_ += "\r\n";
}

bool Connection::collect() {
  if (phase_ != Phase::kRunning || is_response_whole_ || out_.size() - out_sent_ > kOutBytes) return false;
  Exchange::Part part = exchange_->take(static_cast<int64_t>(out_.size() - out_sent_));
  if (part.is_overrun || (part.is_abandoned && has_head_)) {
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
  if (out_sent_ == out_.size()) out_.clear(), out_sent_ = 0;
  if (part.has_head) append_response_head(part.head, part.is_whole);
  const std::string_view body = part.is_whole ? part.head.body : part.bytes;
  is_response_whole_ = part.is_end;
  if (is_head_request_) {
    // What would be streamed is not: the head is all there is to it.
    if (!part.is_end) exchange_->break_off();
    is_response_whole_ = true;
    return true;
  }
  if (has_no_body(record_.status)) return true;
  record_.body_bytes += static_cast<int64_t>(body.size());
  if (is_chunked_) {
    append_chunk(&out_, body);
    if (part.is_end) out_ += kLastChunk;
  } else {
    out_ += body;
  }
  return true;
}

bool Connection::write_some() {
  if (phase_ == Phase::kClosed) return false;
  if (!has_output()) {
    if (is_response_whole_ && phase_ == Phase::kRunning) return end_response(true), true;
    return false;
  }
  size_t count = 0;
  const Io state = transport_->write(std::string_view(out_).substr(out_sent_), &count);
  if (state == Io::kBroken || state == Io::kEnd) return close(), false;
  if (state != Io::kDone) {
    if (state == Io::kWantWrite) watch_->want_write();
    if (write_deadline_ns_ == kNever) {
      write_deadline_ns_ = now_ns() + host_.settings->write_timeout_ms * kMs;
      host_.expect_by(write_deadline_ns_);
    }
    return false;
  }
  out_sent_ += count;
  write_deadline_ns_ = kNever;
  if (exchange_ != nullptr) exchange_->set_in_flight(static_cast<int64_t>(out_.size() - out_sent_));
  if (!has_output()) {
    out_.clear();
    out_sent_ = 0;
    if (out_.capacity() > kOutBytes) out_ = {};
  }
  return true;
}

void Connection::end_response(bool is_complete) {
  host_.requests_running->fetch_sub(1);
  host_.body_bytes->fetch_sub(std::exchange(counted_body_, 0));
  exchange_.reset();
  record_.peer = peer_;
  record_.end_ns = now_ns();
  record_.is_complete = is_complete;
  if (record_.status == 0) record_.status = 499;
  if (*host_.on_done) (*host_.on_done)(record_);
  record_ = {};
  has_head_ = is_response_whole_ = false;
  if (!is_complete) return;
  if (!keeps_alive_ || host_.is_draining->load()) return linger();
  phase_ = Phase::kIdle;
  out_ = {};
  set_deadline(now_ns() + host_.settings->idle_timeout_ms * kMs);
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
  if (has_output()) watch_->want_write();
  if (!wants_input()) return;
  // Whether more can be read at once is not known when reading stopped early; asking tells.
  if (read_state_ == Io::kWantWrite) {
    watch_->want_write();
  } else if (read_state_ == Io::kDone) {
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
  keeps_alive_ = false;
}

void Connection::cut_off() {
  if (phase_ == Phase::kReading || phase_ == Phase::kIdle) return close();
  if (phase_ != Phase::kRunning || is_response_whole_) return;
  exchange_->break_off();
  if (has_head_) return close();
  const bool is_stopping = host_.is_draining->load();
  const std::string message =
      is_stopping ? std::string("the server is stopping")
                  : fmt::format("the request took longer than {} ms", host_.settings->request_timeout_ms);
  keeps_alive_ = false;
  deadline_ns_ = kNever;
  const Response response =
      host_.router->error({.status = is_stopping ? 503 : 504, .message = message, .path = record_.target});
  append_response_head(response, true);
  if (!is_head_request_) out_ += response.body;
  is_response_whole_ = true;
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
