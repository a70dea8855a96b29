// SPDX-License-Identifier: Apache-2.0
// The only file that knows Boost.Beast, which reads heads. Bodies are read here: Beast's reading of chunks depends on
// where they are cut.
#include "server/net/request_parser.h"

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <optional>

#include "base/clock.h"
#include "server/net/ascii.h"
#include "server/net/chunk_decoder.h"

namespace nereid::server::net {
namespace {

namespace http = boost::beast::http;
using ErrorCode = boost::beast::error_code;

constexpr int kMaxBlanks = 16;       // bytes of empty lines before a request
constexpr size_t kRoom = 256 << 10;  // of a body that is asked for at one time

std::string_view view(boost::beast::string_view s) {
  return {s.data(), s.size()};
}

bool is_token_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// The target's path and query: "/a?b", or "http://host/a?b" as proxies are asked.
std::string_view origin_form(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const size_t slash = target.find('/', scheme.size());
    return slash == target.npos ? std::string_view("/") : target.substr(slash);
  }
  return target;
}

}  // namespace

struct RequestParser::Impl {
  Impl(const Settings& s, std::shared_ptr<BytePool> from) : limits(s), pool(std::move(from)) {
    parser.header_limit(static_cast<uint32_t>(s.max_header_bytes) + 4);
    parser.body_limit(boost::none);
    parser.eager(false);
  }

  void fail(int status, std::string message) {
    state = State::kFailed;
    error.status = status;
    error.message = std::move(message);
  }

  // What can be told before the head is whole, so that a stranger need not send all of it. How long it
  // is, once it is whole; else 0.
  size_t check_beginning(std::string_view bytes) {
    const size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end);
    const auto method =
        static_cast<size_t>(std::find_if_not(line.begin(), line.end(), is_token_character) - line.begin());
    const bool is_http = method <= 32 && (method == line.size() || (method > 0 && line[method] == ' '));
    constexpr const char* kNoHttp = "the connection does not begin with an HTTP request";
    if (!is_http) return fail(400, kNoHttp), 0;
    if (line.size() > method + static_cast<size_t>(limits.max_target_bytes) + 16)
      return fail(414, fmt::format("the request's path and query are longer than {} bytes", limits.max_target_bytes)),
             0;
    if (end != bytes.npos && !line.ends_with('\r')) return fail(400, kNoHttp), 0;
    // Beast gets heads whole: what it says of half a head depends on where it is cut.
    const size_t last = bytes.find("\r\n\r\n", searched);
    searched = bytes.size() > 3 ? bytes.size() - 3 : 0;
    if (std::min(last, bytes.size()) >= static_cast<size_t>(limits.max_header_bytes))
      return fail(431, fmt::format("the request's head is longer than {} bytes", limits.max_header_bytes)), 0;
    if (last == bytes.npos) return 0;
    has_version = line.find(" HTTP/") != line.npos;
    return last + 4;
  }

  void fail_by(const ErrorCode& ec) {
    using E = http::error;
    if (ec == E::bad_version && has_version) return fail(505, "the server speaks HTTP/1.1 and HTTP/1.0");
    fail(400, fmt::format("the request is no valid HTTP: {}", ec.message()));
  }

  void fail_too_long() { fail(413, fmt::format("the request's body is longer than {} bytes", limits.max_body_bytes)); }

  void read_head(std::string_view head) {
    ErrorCode ec;
    parser.put(boost::asio::const_buffer(head.data(), head.size()), ec);
    if (ec && (ec != http::error::need_more || !parser.is_header_done())) return fail_by(ec);
    state = State::kBody;
    check_head();
    if (state == State::kFailed) return;
    if (parser.chunked()) {
      chunks.emplace(limits.max_body_bytes);
    } else if (const auto length = parser.content_length(); length && *length > 0) {
      if (*length > static_cast<uint64_t>(limits.max_body_bytes)) return fail_too_long();
      body_left = static_cast<size_t>(*length);
      if (pool != nullptr && body_left >= BytePool::kLeast) {
        request.body = pool->take(body_left);
        request.pool = pool;
      } else {
        request.body.reserve(std::min(body_left, BytePool::kMost));
      }
    } else {
      state = State::kDone;
    }
  }

  size_t read_body(std::string_view bytes) {
    if (!chunks) {
      const size_t n = std::min(bytes.size(), body_left);
      if (request.body.size() < body_got + n) request.body.resize(body_got + n);
      bytes.copy(request.body.data() + body_got, n);
      took(n);
      return n;
    }
    const size_t n = chunks->feed(bytes, &request.body);
    if (chunks->state() == ChunkDecoder::State::kDone) state = State::kDone;
    if (chunks->state() == ChunkDecoder::State::kTooLong) fail_too_long();
    if (chunks->state() == ChunkDecoder::State::kBad) fail(400, "the chunks of the request's body are not valid");
    return n;
  }

  void took(size_t bytes) {
    body_got += bytes;
    body_left -= bytes;
    if (body_left > 0) return;
    request.body.resize(body_got);
    state = State::kDone;
  }

  std::span<char> room() {
    if (state != State::kBody || chunks) return {};
    const size_t n = std::min(body_left, kRoom);
    if (request.body.size() < body_got + n) request.body.resize(body_got + n);
    return {request.body.data() + body_got, n};
  }

  void copy_head(Request* to) const {
    const auto& message = parser.get();
    to->method = view(message.method_string());
    for (const auto& field : message.base())
      to->headers.add(std::string(view(field.name_string())), std::string(view(field.value())));
  }

  void check_head() {
    const auto& head = parser.get().base();
    // The path belongs to the error from here on.
    const std::string_view target = origin_form(view(head.target()));
    request.target = view(head.target());
    const size_t question = target.find('?');
    if (!decode_percent(target.substr(0, question), false, &request.path) ||
        (question != target.npos && !parse_query(target.substr(question + 1), &request.query)))
      return fail(400, "a '%' in the request's target is not followed by two hexadecimal digits");
    error.path = request.path;
    if (request.target.size() > static_cast<size_t>(limits.max_target_bytes))
      return fail(414, fmt::format("the request's path and query are longer than {} bytes", limits.max_target_bytes));
    if (!target.starts_with('/') && target != "*") return fail(400, "the request's target must begin with '/'");
    const auto hosts = head.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && head.version() == 11))
      return fail(400, fmt::format("a request has exactly one Host header, found {}", hosts));
    const std::string_view method = view(head.method_string());
    if (head.count(http::field::transfer_encoding) > 0) {
      if (head.version() == 10) return fail(400, "HTTP/1.0 knows no Transfer-Encoding");
      if (head.count(http::field::transfer_encoding) > 1 ||
          !equals_ignoring_case(view(head[http::field::transfer_encoding]), "chunked"))
        return fail(501, "the only Transfer-Encoding that the server takes is 'chunked'");
    } else if (head.version() == 10 && (method == "POST" || method == "PUT" || method == "PATCH") &&
               head.count(http::field::content_length) == 0) {
      return fail(411, "a request with a body needs a Content-Length");
    }
    if (head.count(http::field::expect) > 0) {
      if (!equals_ignoring_case(view(head[http::field::expect]), "100-continue"))
        return fail(417, "the only expectation that the server meets is '100-continue'");
      expects_continue = head.version() == 11;
    }
  }

  const Settings limits;
  const std::shared_ptr<BytePool> pool;
  http::request_parser<http::empty_body> parser;
  State state = State::kHead;
  int blanks = 0;
  size_t searched = 0;  // bytes of the head in which its end is not
  std::optional<ChunkDecoder> chunks;
  size_t body_left = 0, body_got = 0;  // where its length is known; behind them `body` is room
  bool has_version = false;
  bool expects_continue = false;
  HttpError error;
  Request request;
};

RequestParser::RequestParser(const Settings& limits, std::shared_ptr<BytePool> pool)
    : impl_(std::make_unique<Impl>(limits, std::move(pool))) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;

size_t RequestParser::feed(std::string_view bytes) {
  Impl& p = *impl_;
  size_t taken = 0;
  if (p.state == State::kHead) {
    // An empty line or two before a request are remains of the one before (RFC 9112, 2.2).
    for (; taken < bytes.size() && (bytes[taken] == '\r' || bytes[taken] == '\n'); ++taken)
      if (++p.blanks > kMaxBlanks) return p.fail(400, "the connection begins with empty lines"), taken;
    const size_t head = taken == bytes.size() ? 0 : p.check_beginning(bytes.substr(taken));
    if (head == 0) return taken;
    p.read_head(bytes.substr(taken, head));
    taken += head;
  }
  if (p.state == State::kBody && taken < bytes.size()) taken += p.read_body(bytes.substr(taken));
  return taken;
}

RequestParser::State RequestParser::state() const {
  return impl_->state;
}
std::span<char> RequestParser::body_room() {
  return impl_->room();
}
void RequestParser::body_came(size_t bytes) {
  impl_->took(bytes);
}
bool RequestParser::is_http_1_0() const {
  return impl_->parser.is_header_done() && impl_->parser.get().version() == 10;
}
bool RequestParser::keeps_alive() const {
  return impl_->parser.is_header_done() && impl_->parser.keep_alive();
}
bool RequestParser::expects_continue() const {
  return impl_->expects_continue && impl_->state == State::kBody;
}
const HttpError& RequestParser::error() const {
  return impl_->error;
}

Request RequestParser::head() const {
  Request head;
  head.target = impl_->request.target;
  head.path = impl_->request.path;
  impl_->copy_head(&head);
  return head;
}

Request RequestParser::take() {
  Request request = std::move(impl_->request);
  impl_->copy_head(&request);
  request.received_ns = now_ns();
  return request;
}

}  // namespace nereid::server::net
